/** The SQL of the checkpointer, on the tables of LangGraph's `SqliteSaver`. */
import type { Database, Statement } from "better-sqlite3";
import { preparedOnUse } from "#memory/stores/sqlite/prepared-on-use.ts";

/** A row of `checkpoints`. Older files hold bytes where newer ones hold text. */
export interface CheckpointRow {
  /** Grows with every put. */
  readonly rowid: number;
  readonly checkpoint_id: string;
  readonly parent_checkpoint_id: string | null;
  readonly type: string | null;
  readonly checkpoint: string | Uint8Array;
  readonly metadata: string | Uint8Array;
}

/** A row of `writes`. */
export interface WriteRow {
  readonly task_id: string;
  readonly channel: string;
  readonly type: string | null;
  readonly value: string | Uint8Array | null;
}

/** What names a checkpoint. */
export type CheckpointKey = [threadId: string, namespace: string, checkpointId: string];

/** The statements. */
export interface CheckpointStatements {
  readonly newest: Statement<[string, string], CheckpointRow>;
  readonly newestId: Statement<[string, string], Pick<CheckpointRow, "checkpoint_id">>;
  /** The newest that was put before a row. */
  readonly before: Statement<[string, string, number], CheckpointRow>;
  readonly byId: Statement<CheckpointKey, CheckpointRow>;
  readonly writesOf: Statement<CheckpointKey, WriteRow>;
  readonly put: Statement;
  /** Its columns, and then the key of the one in whose place it is put, if that is the newest. */
  readonly putInPlace: Statement;
  readonly putWrite: Statement;
  readonly replaceWrite: Statement;
  readonly drop: Statement<CheckpointKey>;
  readonly dropWrites: Statement<CheckpointKey>;
}

const COLUMNS = "checkpoint_id, parent_checkpoint_id, type, checkpoint, metadata";
const WRITE_COLUMNS = "thread_id, checkpoint_ns, checkpoint_id, task_id, idx, channel, type, value";

// Out of the index alone: a sort would read every state that is kept.
const NEWEST = "(SELECT max(rowid) FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ?)";

/** Prepares the statements in `db`, whose tables exist. */
export function prepareCheckpointStatements(db: Database): CheckpointStatements {
  const insertWrite = (conflict: string): Statement =>
    db.prepare(`INSERT OR ${conflict} INTO writes (${WRITE_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`);
  const dropFrom = (table: string): Statement<CheckpointKey> =>
    db.prepare(`DELETE FROM ${table} WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?`);
  return preparedOnUse<CheckpointStatements>({
    // In the order in which they were put: ids go by a clock, which may be set back.
    newest: () => db.prepare(`SELECT rowid, ${COLUMNS} FROM checkpoints WHERE rowid = ${NEWEST}`),
    newestId: () => db.prepare(`SELECT checkpoint_id FROM checkpoints WHERE rowid = ${NEWEST}`),
    before: () =>
      db.prepare(
        `SELECT rowid, ${COLUMNS} FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? AND rowid < ?
       ORDER BY rowid DESC LIMIT 1`,
      ),
    byId: () =>
      db.prepare(
        `SELECT rowid, ${COLUMNS} FROM checkpoints WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ?`,
      ),
    writesOf: () =>
      db.prepare(
        `SELECT task_id, channel, type, value FROM writes
       WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ? ORDER BY task_id, idx`,
      ),
    put: () =>
      db.prepare(
        `INSERT OR REPLACE INTO checkpoints (thread_id, checkpoint_ns, ${COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?)`,
      ),
    putInPlace: () =>
      db.prepare(
        `UPDATE checkpoints SET (${COLUMNS}) = (?, ?, ?, ?, ?)
         WHERE thread_id = ? AND checkpoint_ns = ? AND checkpoint_id = ? AND rowid = ${NEWEST}`,
      ),
    putWrite: () => insertWrite("IGNORE"),
    replaceWrite: () => insertWrite("REPLACE"),
    drop: () => dropFrom("checkpoints"),
    dropWrites: () => dropFrom("writes"),
  });
}
