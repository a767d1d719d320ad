/** Everything in a checkpoint file that may name something in the store. */
import type { Database } from "better-sqlite3";
import { hasTable } from "./lease-rows.ts";

/** The texts, one a row; none where there is no file. */
export function* checkpointTexts(checkpoints: Database | undefined): Generator<string> {
  if (checkpoints === undefined) return;
  for (const [table, column] of [
    ["checkpoints", "checkpoint"],
    ["writes", "value"],
  ] as const) {
    if (!hasTable(checkpoints, table)) continue;
    const rows = checkpoints.prepare<[], Buffer | string | null>(`SELECT ${column} FROM ${table}`).pluck();
    for (const value of rows.iterate()) yield value === null ? "" : value.toString();
  }
}
