/** Takes what was typed out of a list of lines: a message that was continued over several of them goes as a whole. */

/** The lines, oldest first, of the messages that `says` does not hold of. */
export function linesWithout(lines: readonly string[], says: (text: string) => boolean): string[] {
  return messagesOf(lines)
    .filter((message) => !says(message.map(withoutBackslash).join("\n")))
    .flat();
}

/** A backslash at its end continues a line. */
function messagesOf(lines: readonly string[]): string[][] {
  const messages: string[][] = [];
  let isContinued = false;
  for (const line of lines) {
    if (isContinued) messages.at(-1)?.push(line);
    else messages.push([line]);
    isContinued = line.endsWith("\\");
  }
  return messages;
}

function withoutBackslash(line: string): string {
  return line.endsWith("\\") ? line.slice(0, -1) : line;
}
