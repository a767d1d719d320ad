/** The lines that were typed before, kept in a file that only its owner can read. */
import { appendFileSync, chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TypedLines } from "#src/erasure/place.ts";
import { printable } from "../printable.ts";

/** Typed lines across starts of the program. A file that cannot be read or written is no reason to stop. */
export interface InputHistory {
  /** Newest first, as the line editor wants them. */
  load(): string[];
  /** Remembers a line. */
  add(line: string): void;
  /** How many lines in the file `says` holds of. */
  count(says: (line: string) => boolean): number;
  /** Takes them out of the file; how many. @throws what the file system throws: a line that stays is told of */
  erase(says: (line: string) => boolean): number;
}

const MAX_LINES = 500;
const OWNER_ONLY = 0o600;

/** Makes the history of a home folder: one line an entry, oldest first. */
export function createInputHistory(home: string): InputHistory {
  const path = join(home, "cli-history");
  let newest: string | undefined;
  return {
    count(says) {
      const lines = readLines(path);
      return lines.length - linesWithout(lines, says).length;
    },
    erase(says) {
      const lines = existsSync(path) ? linesOf(readFileSync(path, "utf8")) : [];
      const kept = linesWithout(lines, says);
      if (kept.length < lines.length) writeLines(path, kept);
      newest = kept.at(-1);
      return lines.length - kept.length;
    },
    load() {
      const lines = readLines(path);
      if (lines.length > MAX_LINES) tryTo(() => writeLines(path, lines.slice(-MAX_LINES)));
      newest = lines.at(-1);
      return lines.slice(-MAX_LINES).toReversed();
    },
    add(line) {
      const entry = printable(line).replaceAll("\n", " ");
      if (entry.trim() === "" || entry === newest) return;
      newest = entry;
      // The home folder is made by whoever opens it: a line that was typed is no reason to begin one.
      tryTo(() => appendFileSync(path, `${entry}\n`, { mode: OWNER_ONLY }));
    },
  };
}

function readLines(path: string): string[] {
  try {
    return linesOf(readFileSync(path, "utf8"));
  } catch {
    // Missing on the first start; unreadable means starting without.
    return [];
  }
}

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => printable(line))
    .filter((line) => line.trim() !== "");
}

function writeLines(path: string, lines: readonly string[]): void {
  writeFileSync(path, lines.map((line) => `${line}\n`).join(""), { mode: OWNER_ONLY });
  chmodSync(path, OWNER_ONLY);
}

function tryTo(write: () => void): void {
  try {
    write();
  } catch {
    // A read-only or full home folder costs the history, not the conversation.
  }
}

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

/** What `owner` has typed at this machine, as an erasure reaches it: the file, and the terminal that is open. */
export function typedLines(
  owner: string,
  home: string,
  input?: { forgetSaying(says: (line: string) => boolean): void },
): TypedLines {
  const { count, erase } = createInputHistory(home);
  return {
    owner,
    count,
    erase(says) {
      input?.forgetSaying(says);
      return erase(says);
    },
  };
}
