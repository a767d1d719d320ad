/** What takes the space on disk, by kind. */
import { statSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { TEXT_TABLES } from "#memory/stores/sqlite/text-tables.ts";
import { hasTable } from "./lease-rows.ts";
import { roomOf } from "./checks/database-file.ts";

/** The space of one kind. */
export interface DiskUse {
  readonly kind: string;
  /** How many there are; `null` where that means nothing. */
  readonly count: number | null;
  readonly bytes: number;
}

/** Names for people of what stands under the first label of a namespace. */
const KINDS: ReadonlyMap<string, string> = new Map([
  ["history", "transcripts"],
  ["deliveries", "deliveries"],
  ["sessions", "chains"],
  ["session-index", "session index"],
  ["explanations", "explanations"],
  ["blobs", "blobs"],
]);

const BY_LABEL = `
  SELECT substr(n.path, 1, instr(n.path, '.') - 1) AS label, count(*) AS count,
    sum(octet_length(i.value) + octet_length(i.key)) AS bytes
  FROM items AS i JOIN namespaces AS n ON n.id = i.namespace_id GROUP BY label`;

/** What lies in a store file, in its log, and in the holes of the file. The kinds add up to the files. */
export function storeUsage(db: Database): DiskUse[] {
  const items = hasTable(db, "items") ? itemsByKind(db) : [];
  const text = tableBytes(db, (name) => TEXT_TABLES.some((table) => name.startsWith(table)));
  const used = [...items, { kind: "text index", count: null, bytes: text }];
  return [...used, ...restOf(db, "store", used)];
}

/** What lies in a checkpoint file, in its log, and in the holes of the file. */
export function checkpointUsage(db: Database): DiskUse[] {
  const used = ["checkpoints", "writes"]
    .filter((table) => hasTable(db, table))
    .map((table) => ({
      kind: table,
      count: db.prepare<[], number>(`SELECT count(*) FROM ${table}`).pluck().get() ?? 0,
      bytes: tableBytes(db, (name) => name === table),
    }));
  return [...used, ...restOf(db, "checkpoints", used)];
}

function itemsByKind(db: Database): DiskUse[] {
  const rows = db.prepare<[], { label: string; count: number; bytes: number }>(BY_LABEL).all();
  const kinds = new Map<string, { count: number; bytes: number }>();
  for (const { label, count, bytes } of rows) {
    const kind = KINDS.get(label) ?? "other items";
    const before = kinds.get(kind) ?? { count: 0, bytes: 0 };
    kinds.set(kind, { count: before.count + count, bytes: before.bytes + bytes });
  }
  const order = [...KINDS.values(), "other items"];
  return order.flatMap((kind) => {
    const use = kinds.get(kind);
    return use === undefined ? [] : [{ kind, ...use }];
  });
}

/** Pages of the tables and indexes of which `isOne` is true of the name. */
function tableBytes(db: Database, isOne: (name: string) => boolean): number {
  const rows = db
    .prepare<[], { name: string; bytes: number }>(
      "SELECT name, pgsize AS bytes FROM dbstat WHERE aggregate = TRUE",
    )
    .all();
  return rows.filter(({ name }) => isOne(name)).reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Free pages, the log, and what is neither: indexes, and the rest of pages that are not full. */
function restOf(db: Database, file: string, used: readonly DiskUse[]): DiskUse[] {
  const { total, free } = roomOf(db);
  const log = statSync(`${db.name}-wal`, { throwIfNoEntry: false })?.size ?? 0;
  const told = used.reduce((sum, { bytes }) => sum + bytes, 0);
  return [
    { kind: `indexes and page ends (${file})`, count: null, bytes: Math.max(0, total - free - told) },
    { kind: `free pages (${file})`, count: null, bytes: free },
    { kind: `log (${file})`, count: null, bytes: log },
  ];
}
