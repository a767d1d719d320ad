/** Tells commands from text, and their parts from what follows. */

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

/** What follows `words` in arguments that begin with them, in any case; `undefined` for others. */
export function afterWords(args: string, words: string): string | undefined {
  const wanted = words.split(" ");
  const given = args.split(/\s+/u, wanted.length);
  if (!wanted.every((word, index) => given[index]?.toLowerCase() === word)) return undefined;
  return given.reduce((rest, word) => rest.slice(word.length).trimStart(), args.trim()).trim();
}
