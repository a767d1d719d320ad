/**
 * Reads flags out of a command's arguments: `--name value`, `--name=value`, `--switch`; the rest is its text. Phones make
 * one long dash of two, and curled quotes: those are flags and quotes too.
 */
import { refused, type Envelope } from "#src/kernel/envelope.ts";

/** Which flags a command knows. */
export interface FlagNames<Value extends string, Switch extends string> {
  /** Flags with a value. */
  readonly values?: readonly Value[];
  readonly switches?: readonly Switch[];
}

/** Arguments, taken apart. */
export interface Flags<Value extends string, Switch extends string> {
  /** What is left, with its line breaks. */
  readonly text: string;
  readonly values: Partial<Record<Value, string>>;
  readonly switches: ReadonlySet<Switch>;
}

/** Arguments taken apart, or what is wrong with them. */
export type FlagsResult<Value extends string, Switch extends string> =
  | ({ readonly ok: true } & Flags<Value, Switch>)
  | { readonly ok: false; readonly problem: string };

// A flag is "--" and at once a letter, where a word begins. A lone "--" ends the flags: what follows is text.
const FLAG = /(?<=^|\s)(?:--|[—–](?=[a-z]))(?:(?<name>[a-z][a-z-]*)(?<given>=)?|(?=\s|$))/iu;
const QUOTES = `"“”„«»`;
const VALUE = new RegExp(
  `^(?:[${QUOTES}](?<quoted>[^${QUOTES}]*)[${QUOTES}]|(?<bare>[^\\s${QUOTES}]\\S*))(?=\\s|$)`,
  "u",
);

/** Takes `args` apart. A flag that is not known is a problem, so that a slip of the pen never becomes text. */
export function parseFlags<Value extends string = never, Switch extends string = never>(
  args: string,
  names: FlagNames<Value, Switch>,
): FlagsResult<Value, Switch> {
  const values: Partial<Record<Value, string>> = {};
  const switches = new Set<Switch>();
  const text: string[] = [];
  let rest = args;
  for (let found = FLAG.exec(rest); found !== null; found = FLAG.exec(rest)) {
    text.push(rest.slice(0, found.index).trim());
    rest = rest.slice(found.index + found[0].length);
    const name = found.groups?.["name"]?.toLowerCase();
    if (name === undefined) break;
    const switched = names.switches?.find((known) => known === name);
    const valued = names.values?.find((known) => known === name);
    if (switched !== undefined && found.groups?.["given"] === undefined) {
      switches.add(switched);
    } else if (valued === undefined) {
      return { ok: false, problem: unknownFlag(names) };
    } else {
      const value = VALUE.exec(rest.trimStart());
      if (value === null) return { ok: false, problem: `--${name} needs a value` };
      values[valued] = value.groups?.["quoted"] ?? value.groups?.["bare"] ?? "";
      rest = rest.trimStart().slice(value[0].length);
    }
  }
  text.push(rest.trim());
  return { ok: true, text: text.filter((part) => part !== "").join(" "), values, switches };
}

/** Neither name nor value is repeated: what was meant as text may be a secret. */
function unknownFlag({ values = [], switches = [] }: FlagNames<string, string>): string {
  const known = [...values, ...switches].map((flag) => `--${flag}`).join(", ");
  return `there is a flag that is not known here${known === "" ? "" : `; known are ${known}`}`;
}

/** Usages with words of the person's own, which may look like a flag. */
const TAKES_TEXT = /<text>|words/u;

/** The refusal of arguments that are not understood. It does not repeat them. */
export function usageEnvelope(problem: string, usage: string): Envelope {
  const lone = TAKES_TEXT.test(usage) ? " Text that begins with -- comes behind a lone --." : "";
  return refused("command_usage", problem, { next: `Write ${usage}.${lone}` });
}
