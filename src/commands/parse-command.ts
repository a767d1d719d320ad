/** Tells commands from text. */

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
