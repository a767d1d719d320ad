/** Looks for checkpoints that are not what was once put: they count as absent, and take space. */
import type { Database } from "better-sqlite3";
import { StateSerde } from "#src/storage/checkpoints/state-serde.ts";
import { readCheckpoint } from "#src/storage/sqlite/checkpoint-row.ts";
import { counted, fine, someOf, warning, type Check } from "../check.ts";
import { hasTable } from "../lease-rows.ts";
import type { ReadableDatabase } from "./database-file.ts";

const CHECK = "checkpoints";

/** A checkpoint that cannot be read. */
export interface DamagedCheckpoint {
  readonly rowid: number;
  readonly id: string;
  readonly threadId: string;
}

interface Row extends DamagedCheckpoint {
  readonly checkpoint: Buffer | string;
  readonly metadata: Buffer | string;
}

/** The damaged checkpoints of a file, and how many there are in all. Reads only. */
export function findDamagedCheckpoints(db: Database): {
  readonly damaged: readonly DamagedCheckpoint[];
  readonly total: number;
} {
  if (!hasTable(db, "checkpoints")) return { damaged: [], total: 0 };
  const serde = new StateSerde();
  const damaged: DamagedCheckpoint[] = [];
  let total = 0;
  const rows = db.prepare<[], Row>(
    `SELECT rowid, checkpoint_id AS id, thread_id AS threadId, checkpoint, metadata
     FROM checkpoints ORDER BY rowid`,
  );
  for (const row of rows.iterate()) {
    total += 1;
    const { rowid, id, threadId } = row;
    if (readCheckpoint(serde, row) === undefined) damaged.push({ rowid, id, threadId });
  }
  return { damaged, total };
}

/** The row of the checkpoints' contents. */
export function checkDamagedCheckpoints(db: ReadableDatabase): Check {
  const { damaged, total } = findDamagedCheckpoints(db);
  if (damaged.length === 0) return fine(CHECK, `${counted(total, "checkpoint")}, each can be read`);
  const sessions = [...new Set(damaged.map(({ threadId }) => threadId))];
  return warning(
    CHECK,
    `${damaged.length} of ${counted(total, "checkpoint")} cannot be read, of ${someOf(sessions)}`,
    "These sessions go on from an older one or from their transcript; lily doctor --repair removes what cannot be read.",
  );
}
