/** What takes the space on disk, by kind. */
import { statSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { hasTable } from "./database-file.ts";

/** The space of one kind. */
export interface DiskUse {
  readonly kind: string;
  /** How many there are; `null` where that means nothing. */
  readonly count: number | null;
  readonly bytes: number;
}

/** The kind is the first label of the namespace, as in DESIGN's table of where state lives. */
const ITEMS = `
  SELECT substr(n.path, 1, instr(n.path, '.') - 1) AS kind, count(*) AS count,
    sum(octet_length(i.value) + octet_length(i.key)) AS bytes
  FROM items AS i JOIN namespaces AS n ON n.id = i.namespace_id GROUP BY kind ORDER BY bytes DESC`;

/** What lies in a store file; with the rest of the file and its log the kinds add up to what is on disk. */
export function storeUsage(db: Database): DiskUse[] {
  const items = hasTable(db, "items") ? db.prepare<[], DiskUse>(ITEMS).all() : [];
  const told = items.reduce((sum, { bytes }) => sum + bytes, 0);
  const rest = { kind: "indexes and free pages", count: null, bytes: Math.max(0, sizeOf(db.name) - told) };
  return [...items, rest, { kind: "log of the store", count: null, bytes: sizeOf(`${db.name}-wal`) }];
}

/** What lies in a checkpoint file. */
export function checkpointUsage(db: Database): DiskUse[] {
  const count = hasTable(db, "checkpoints")
    ? db.prepare<[], number>("SELECT count(*) FROM checkpoints")
    : undefined;
  return [
    { kind: "checkpoints", count: count?.pluck().get() ?? 0, bytes: sizeOf(db.name) },
    { kind: "log of the checkpoints", count: null, bytes: sizeOf(`${db.name}-wal`) },
  ];
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}
