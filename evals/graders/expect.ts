/** The smallest grader: a fact that must hold, or a sentence that says what is instead. */

/** Throws `message` unless `holds`. The message says what was expected and what came. */
export function expectThat(holds: boolean, message: string): asserts holds {
  if (!holds) throw new Error(message);
}

/** Throws unless `found` and `expected` are the same JSON; `what` begins the sentence. */
export function expectEqual(what: string, found: unknown, expected: unknown): void {
  const [is, wanted] = [JSON.stringify(found), JSON.stringify(expected)];
  expectThat(is === wanted, `${what} is ${is}, expected ${wanted}`);
}
