/** Removes checkpoints and writes that nothing leads to, in steps that hold up nobody. */
import { setImmediate as nextTick } from "node:timers/promises";
import type { Database } from "better-sqlite3";
import { retryBusy } from "#memory/stores/sqlite/retry-busy.ts";
import { counted } from "../check.ts";
import { findOrphans, oldBefore, ORPHAN_WRITES, type OrphanFacts } from "../checkpoint-orphans.ts";
import { done, type Outcome } from "./outcome.ts";

/** Rows a transaction deletes: a few milliseconds. */
const ROWS_PER_STEP = 200;

const deleteOf = (table: "checkpoints" | "writes"): string => `
  DELETE FROM ${table} WHERE rowid IN (
    SELECT rowid FROM ${table} WHERE thread_id = @threadId LIMIT ${ROWS_PER_STEP})`;
const DELETE_STRAY_WRITES = `
  DELETE FROM writes WHERE rowid IN (SELECT w.rowid ${ORPHAN_WRITES} LIMIT ${ROWS_PER_STEP})`;

/** Removes them. */
export async function removeOrphans(checkpoints: Database, facts: OrphanFacts): Promise<Outcome> {
  const { threads, writes } = findOrphans(checkpoints, facts);
  if (threads.length === 0 && writes === 0) return undefined;
  let removed = 0;
  for (const { threadId } of threads) {
    // Looked at again right before: somebody may have begun to use it.
    if (facts.isSession(threadId)) continue;
    await inSteps(checkpoints, deleteOf("writes"), { threadId });
    removed += await inSteps(checkpoints, deleteOf("checkpoints"), { threadId });
  }
  const strays = await inSteps(checkpoints, DELETE_STRAY_WRITES, { before: oldBefore(facts.now) });
  return done(
    `removed ${counted(removed, "checkpoint")} of threads that are no session, and ${counted(strays, "write")} without checkpoint`,
  );
}

async function inSteps(db: Database, sql: string, values: Readonly<Record<string, string>>): Promise<number> {
  const statement = db.prepare(sql);
  for (let deleted = 0; ; await nextTick()) {
    // One statement is one transaction.
    const { changes } = await retryBusy(() => statement.run(values), { file: db.name });
    deleted += changes;
    if (changes < ROWS_PER_STEP) return deleted;
  }
}
