/** LangGraph's `PostgresSaver` with what it lacks: versions that never collide, small threads, errors that say what is wrong. */
import type { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres";
import type { PostgresDatabase } from "#memory/stores/postgres/postgres-database.ts";
import type { Ids } from "#src/kernel/ids.ts";
import { DurableSaver } from "../session-saver.ts";

/** The checkpointer of many servers, around `stock`, whose tables are in the same schema. */
export function createPostgresSaver(
  stock: PostgresSaver,
  database: PostgresDatabase,
  ids: Pick<Ids, "uuid">,
): DurableSaver {
  const checkpoints = `${database.schema}.checkpoints`;
  const later = `DELETE FROM ${checkpoints} WHERE thread_id = $1 AND checkpoint_ns = $2 AND checkpoint_id > $3`;
  // Not for graphs with LangGraph's (beta) delta channels: they read values out of any ancestor.
  const older = `DELETE FROM ${checkpoints} WHERE thread_id = $1 AND checkpoint_id < (
    SELECT checkpoint_id FROM ${checkpoints} WHERE thread_id = $1 AND checkpoint_ns = ''
    ORDER BY checkpoint_id DESC LIMIT 1 OFFSET $2)`;
  const unused = (table: string, isKept: string): string => `
    DELETE FROM ${database.schema}.${table} AS old WHERE old.thread_id = $1 AND NOT EXISTS (
      SELECT FROM ${checkpoints} AS kept WHERE kept.thread_id = old.thread_id
        AND kept.checkpoint_ns = old.checkpoint_ns AND ${isKept})`;
  const left = [
    unused("checkpoint_writes", "kept.checkpoint_id = old.checkpoint_id"),
    unused("checkpoint_blobs", "kept.checkpoint -> 'channel_versions' ->> old.channel = old.version"),
  ];
  return new DurableSaver(stock, {
    run: (work) => database.run(async () => work()),
    deleteLater: (...values) => database.query(later, values),
    /** Each statement is one transaction; what a crash in between leaves is found by the next call. */
    async retain(threadId, count) {
      const { rowCount } = await database.query(older, [threadId, Math.max(1, count) - 1]);
      for (const sql of left) await database.query(sql, [threadId]);
      return rowCount ?? 0;
    },
    /**
     * The next whole number and a fraction of its own: versions of one run grow, those of two differ. Upstream counts both
     * up by one, keeps the value of the first run under that version, and shows it to the second.
     */
    nextVersion(current) {
      const next = Math.floor(current ?? 0) + 1;
      // Eight digits: with as many before the point PostgreSQL still writes the number as JavaScript does.
      const hex = ids.uuid().replaceAll("-", "").slice(-12);
      const fraction = (Number.parseInt(hex, 16) % 99_999_999) + 1;
      return Number(`${next}.${String(fraction).padStart(8, "0")}`);
    },
  });
}
