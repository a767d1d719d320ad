/** The places that upkeep works on, as values: nothing here reads a configuration. */

/** The two database files of a home folder, as absolute paths. */
export interface DatabasePaths {
  readonly checkpoints: string;
  readonly store: string;
}

/** A home folder with the files of its SQLite backend. */
export interface Home {
  /** Absolute path. */
  readonly folder: string;
  readonly databases: DatabasePaths;
}

/** Told in plain words of each step that takes time. */
export type Progress = (step: string) => void;

/** Files that SQLite keeps beside a database. */
export const SIDE_FILES = ["-wal", "-shm", "-journal"] as const;

/** An instant as part of a file name: no characters that a file system or a shell gives a meaning to. */
export function stampOf(epochMs: number): string {
  return new Date(epochMs).toISOString().replaceAll(/[-:]/gu, "").replace(".", "-");
}
