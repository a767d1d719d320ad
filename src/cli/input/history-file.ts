/** The lines that were typed before, kept in a file that only its owner can read. */
import { appendFileSync, chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { printable } from "../printable.ts";

/** Typed lines across starts of the program. A file that cannot be read or written is no reason to stop. */
export interface InputHistory {
  /** Newest first, as the line editor wants them. */
  load(): string[];
  /** Remembers a line. */
  add(line: string): void;
}

const MAX_LINES = 500;
const OWNER_ONLY = 0o600;

/** Makes the history that lives in `path`: one line an entry, oldest first. */
export function createInputHistory(path: string): InputHistory {
  let newest: string | undefined;
  return {
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
      tryTo(() => {
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        appendFileSync(path, `${entry}\n`, { mode: OWNER_ONLY });
      });
    },
  };
}

function readLines(path: string): string[] {
  try {
    return readFileSync(path, "utf8")
      .split("\n")
      .map((line) => printable(line))
      .filter((line) => line.trim() !== "");
  } catch {
    // Missing on the first start; unreadable means starting without.
    return [];
  }
}

function writeLines(path: string, lines: readonly string[]): void {
  writeFileSync(path, `${lines.join("\n")}\n`, { mode: OWNER_ONLY });
  chmodSync(path, OWNER_ONLY);
}

function tryTo(write: () => void): void {
  try {
    write();
  } catch {
    // A read-only or full home folder costs the history, not the conversation.
  }
}
