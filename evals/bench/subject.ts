/** What a turn benchmark drives: something that answers messages, and what it keeps in a folder. */
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Something that answers the messages of conversations. */
export interface Subject {
  /** Takes one message of a conversation to its answer. */
  turn(conversation: string, text: string): Promise<void>;
  /** Reads where a conversation stands, as a program does that opens it again. @throws when there is none */
  readState(conversation: string): Promise<void>;
  /** Messages of the conversation that the model was given in its last call. */
  given(): number;
  /** Waits for upkeep and folds write-ahead logs into their files, so that the folder can be measured. */
  settle(): Promise<void>;
  /** Closes what is open; the folder stays. */
  close(): Promise<void>;
}

/** The subjects: Lily, Lily with somebody who watches, the plain agent, and the same agent without persistence. */
export const SUBJECT_NAMES = ["lily", "lily-watched", "plain", "floor"] as const;

/** Name of a subject. */
export type SubjectName = (typeof SUBJECT_NAMES)[number];

/** Options with which a subject is opened. */
export interface SubjectOptions {
  /** The model asks for one tool call in each turn. */
  readonly usesTools: boolean;
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
