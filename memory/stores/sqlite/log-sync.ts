/** Forces the write-ahead log of a database to the disk beside the event loop, which SQLite's own sync would hold up. */
import { closeSync, fdatasync, openSync } from "node:fs";
import { toStorageError } from "./sqlite-errors.ts";

/** What is asked of the file system; tests replace it. */
export interface LogFiles {
  open(path: string): number;
  sync(descriptor: number, done: (error: Error | null) => void): void;
  close(descriptor: number): void;
}

const FILES: LogFiles = {
  // Not for reading alone, which Windows would not sync.
  open: (path) => openSync(path, "r+"),
  sync: fdatasync,
  close: closeSync,
};

/**
 * The log of one connection. It is one file as long as the connection is open, and a commit without a sync is written to it
 * when the commit returns: forcing the file to the disk then is what `synchronous = FULL` does within the commit. Only the
 * first of these syncs is left to SQLite, which syncs the folder too, in which the file is new.
 */
export class LogSync {
  readonly #file: string;
  readonly #files: LogFiles;
  #descriptor: number | undefined;
  #isOpen = true;
  #running: Promise<void> | undefined;
  /** The sync behind the one that runs, for what was written since that began. */
  #next: Promise<void> | undefined;
  #failure: { readonly error: unknown } | undefined;

  /** @param file the database */
  constructor(file: string, files: LogFiles = FILES) {
    this.#file = file;
    this.#files = files;
  }

  /** Whether {@link begin} can stand for the sync within a commit: behind the first, as long as none has failed. */
  get isReady(): boolean {
    return this.#isOpen && this.#descriptor !== undefined && this.#failure === undefined;
  }

  /** Called behind a commit that SQLite has synced itself. */
  open(): void {
    if (!this.#isOpen || this.#descriptor !== undefined) return;
    try {
      this.#descriptor = this.#files.open(`${this.#file}-wal`);
    } catch {
      // A database in memory has no log: SQLite goes on syncing as it sees fit.
      this.#isOpen = false;
    }
  }

  /** Begins to force what was written until now to the disk; {@link done} tells when it is there. */
  begin(): void {
    if (this.#running === undefined) this.#running = this.#sync();
    else this.#next ??= this.#running.then(() => (this.#running = this.#sync()));
  }

  /**
   * Resolves when all that was begun is on the disk.
   *
   * @throws {LilyError} a storage error once something could not be forced there, also later: of what was written at the
   *   time nobody knows what a power loss would leave, and a file system may never write it again
   */
  async done(): Promise<void> {
    // Not what is begun later: other conversations write all the time.
    await (this.#next ?? this.#running);
    if (this.#failure !== undefined) throw toStorageError(this.#failure.error, this.#file);
  }

  /** Ends what runs; from now on SQLite syncs. Idempotent. */
  async close(): Promise<void> {
    this.#isOpen = false;
    await (this.#next ?? this.#running);
    if (this.#descriptor !== undefined) this.#files.close(this.#descriptor);
    this.#descriptor = undefined;
  }

  /** Never rejects: whoever waits looks at what has failed. */
  #sync(): Promise<void> {
    this.#next = undefined;
    return new Promise((resolve) => {
      this.#files.sync(this.#descriptor ?? -1, (error) => {
        if (error !== null) this.#failure ??= { error };
        if (this.#next === undefined) this.#running = undefined;
        resolve();
      });
    });
  }
}
