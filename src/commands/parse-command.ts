/**
 * Tells commands from text, and takes their arguments apart: words, flags (`--name value`, `--name=value`, `--switch`) and text.
 * Phones make one long dash of two, and curled quotes: those are flags and quotes too.
 */
import { joined } from "#src/kernel/markdown.ts";
import { refuse } from "./command.ts";

/** What a message turned out to be. */
export type ParsedText =
  | { readonly kind: "text" }
  | { readonly kind: "command"; readonly name: string; readonly args: string }
  /** A command that is addressed to another bot of the same chat; not for us to answer. */
  | { readonly kind: "elsewhere"; readonly bot: string };

// A command is "/" and at once a letter; the name ends at white space, ":" or the end. Anything else, such as
// "/etc/hosts", "//new", "/ new" or a full-width slash, is text.
const COMMAND = /^\/(?<name>[a-z][\w-]*)(?:@(?<bot>[\w.-]+))?(?:(?::|\s)(?<args>[\s\S]*))?$/iu;

/**
 * Reads `text` as a command where it is one. White space (also U+00A0 and U+FEFF) before the slash does not count,
 * names are case-insensitive, the arguments keep their line breaks.
 *
 * @param botNames names under which this bot is addressed in groups, as in `/new@lily`; compared without case.
 */
export function parseCommand(text: string, botNames: readonly string[]): ParsedText {
  const groups = COMMAND.exec(text.trimStart())?.groups;
  if (groups?.["name"] === undefined) return { kind: "text" };
  const bot = groups["bot"];
  if (bot !== undefined && !botNames.some((name) => name.toLowerCase() === bot.toLowerCase())) {
    return { kind: "elsewhere", bot };
  }
  return { kind: "command", name: groups["name"].toLowerCase(), args: (groups["args"] ?? "").trim() };
}

/** The first word and what follows it, with its line breaks; both empty for none. */
export function firstWord(args: string): { readonly word: string; readonly rest: string } {
  const [, word = "", rest = ""] = /^(\S+)\s*([\s\S]*)$/u.exec(args) ?? [];
  return { word, rest };
}

/** What follows `words` in arguments that begin with them, in any case; `undefined` for others. */
export function afterWords(args: string, words: string): string | undefined {
  const wanted = words.split(" ");
  const given = args.split(/\s+/u, wanted.length);
  if (!wanted.every((word, index) => given[index]?.toLowerCase() === word)) return undefined;
  return given.reduce((rest, word) => rest.slice(word.length).trimStart(), args.trim()).trim();
}

/** Which flags a command knows, and how it is written. */
export interface FlagNames<Value extends string, Switch extends string> {
  /** Flags with a value. */
  readonly values?: readonly Value[];
  readonly switches?: readonly Switch[];
  readonly usage: string;
}

/** Arguments, taken apart. */
export interface Flags<Value extends string, Switch extends string = never> {
  /** What is left, with its line breaks. */
  readonly text: string;
  readonly values: Partial<Record<Value, string>>;
  readonly switches: ReadonlySet<Switch>;
}

// A flag is "--" and at once a letter, where a word begins. A lone "--" ends the flags: what follows is text.
const FLAG = /(?<=^|\s)(?:--|[—–](?=[a-z]))(?:(?<name>[a-z][a-z-]*)(?<given>=)?|(?=\s|$))/iu;
const QUOTES = `"“”„«»`;
const VALUE = new RegExp(
  `^(?:[${QUOTES}](?<quoted>[^${QUOTES}]*)[${QUOTES}]|(?<bare>[^\\s${QUOTES}]\\S*))(?=\\s|$)`,
  "u",
);

/** Takes `args` apart; a flag that is not known is refused, so that a slip of the pen never becomes text. */
export function parseFlags<Value extends string = never, Switch extends string = never>(
  args: string,
  names: FlagNames<Value, Switch>,
): Flags<Value, Switch> {
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
      return refuseUsage(unknownFlag(names), names.usage);
    } else {
      const value = VALUE.exec(rest.trimStart());
      if (value === null) return refuseUsage(`--${name} needs a value`, names.usage);
      values[valued] = value.groups?.["quoted"] ?? value.groups?.["bare"] ?? "";
      rest = rest.trimStart().slice(value[0].length);
    }
  }
  text.push(rest.trim());
  return { text: joined(text), values, switches };
}

/** Neither name nor value is repeated: what was meant as text may be a secret. */
function unknownFlag({ values = [], switches = [] }: FlagNames<string, string>): string {
  const known = [...values, ...switches].map((flag) => `--${flag}`).join(", ");
  return `there is a flag that is not known here${known === "" ? "" : `; known are ${known}`}`;
}

/** Usages with words of the person's own, which may look like a flag. */
const TAKES_TEXT = /<text>|words/u;

/** Refuses arguments that are not understood. It does not repeat them. */
export function refuseUsage(problem: string, usage: string): never {
  const lone = TAKES_TEXT.test(usage) ? " Text that begins with -- comes behind a lone --." : "";
  return refuse("command_usage", problem, { next: `Write ${usage}.${lone}` });
}
