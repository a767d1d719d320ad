/** What a turn benchmark drives: something that takes a message and keeps it in a folder. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Something that answers messages of one conversation. */
export interface Subject {
  readonly folder: string;
  /** Takes one message to its answer. */
  turn(text: string): Promise<void>;
  /** Waits for upkeep and folds write-ahead logs into their files, so that the folder can be measured. */
  settle(): Promise<void>;
  /** Closes and removes the folder. */
  close(): Promise<void>;
}

/** What SQLite keeps beside a file while it is open; folded in, it holds nothing. */
const WORKING_FILE = /-(?:wal|shm)$/u;

/** Bytes of all files in a folder and those below it, without SQLite's working files. */
export function folderBytes(folder: string): number {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !WORKING_FILE.test(name));
  return entries.reduce((sum, entry) => {
    const path = join(folder, entry.name);
    return sum + (entry.isDirectory() ? folderBytes(path) : statSync(path).size);
  }, 0);
}
