/** Statements that are prepared when they are first used: who reads one conversation needs few of them. */

/** What prepares each statement of `Statements`. */
export type Preparing<Statements extends object> = {
  readonly [Name in keyof Statements]: () => Statements[Name];
};

/** The statements by their names. */
export function preparedOnUse<Statements extends object>(prepare: Preparing<Statements>): Statements {
  const prepared = {} as Statements;
  for (const name of Object.keys(prepare) as (keyof Statements)[]) {
    const get = (): Statements[keyof Statements] => {
      const statement = prepare[name]();
      Object.defineProperty(prepared, name, { value: statement, enumerable: true });
      return statement;
    };
    Object.defineProperty(prepared, name, { get, enumerable: true, configurable: true });
  }
  return prepared;
}
