/** Makes SQLite files hold nothing that was deleted: they are written anew, and their logs emptied. */
import type { Database } from "better-sqlite3";
import { retryBusy } from "#memory/stores/sqlite/retry-busy.ts";
import { isLilyError } from "#src/kernel/errors.ts";
import type { ScrubReport } from "../backend.ts";

/** Longest wait for another process, for each file and step. */
const DEADLINE_MS = 3_000;

/** How {@link scrubFiles} waits. */
export interface ScrubOptions {
  /** Longest wait in milliseconds for whoever reads or writes. */
  readonly deadlineMs?: number;
}

/**
 * Rewrites each file and empties its log. `secure_delete` overwrites what is deleted, but not what SQLite has moved
 * within a page or from page to page before that: only a file that was written anew is sure to hold what is there and no
 * more. The log has every page as it was until it is emptied, for which no other connection may be reading.
 */
export async function scrubFiles(
  databases: readonly Database[],
  { deadlineMs = DEADLINE_MS }: ScrubOptions = {},
): Promise<ScrubReport> {
  const left: string[] = [];
  for (const db of databases) {
    try {
      await retryBusy(() => db.exec("VACUUM"), { file: db.name, deadlineMs });
      await retryBusy(() => emptyLog(db), { file: db.name, deadlineMs });
    } catch (error) {
      if (!isLilyError(error)) throw error;
      left.push(`${db.name}: ${whyOf(error.code)}`);
    }
  }
  if (left.length === 0) return { outcome: "done", files: databases.length };
  return { outcome: "unfinished", why: `what was deleted may still stand in ${left.join("; ")}` };
}

function emptyLog(db: Database): void {
  const [state] = db.prepare<[], { busy: number }>("PRAGMA wal_checkpoint(TRUNCATE)").all();
  if (state?.busy === 1) throw Object.assign(new Error("a reader holds the log"), { code: "SQLITE_BUSY" });
}

function whyOf(code: string): string {
  if (code === "storage_busy") return "another program reads or writes it";
  return code === "storage_full" ? "there is no room to write it anew" : "it cannot be written";
}
