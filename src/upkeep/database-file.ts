/** Looks at one database file: can it be opened, is it ours, is it whole, does anybody else have it open, is its text index in step, what takes its space. */
import Database from "better-sqlite3";
import { statSync } from "node:fs";
import { retryBusy, isBusy, isDamage, toStorageError } from "#memory/stores/storage-errors.ts";
import { rebuildTextTables, TEXT_TABLES, textTableOf } from "#memory/stores/sqlite/text-tables.ts";
import { type Check, fine, warning, wrong } from "./check.ts";
import {
  assertNotNewer,
  assertVersion,
  type DatabaseSchema,
  readVersion,
} from "#memory/stores/sqlite/migrate.ts";
import { isReadOnly, openCopy } from "#memory/stores/sqlite/open-database.ts";
import type { Clock } from "#src/kernel/clock.ts";
import { errorMessage, isLilyError, LilyError } from "#src/kernel/errors.ts";

/** Either a connection that only reads, which its opener closes, or the row that says why there is none. */
export type Opened =
  | { readonly db: Database.Database; readonly check?: never }
  | { readonly db?: never; readonly check: Check };

/** What SQLite finds wrong in a database. */
export interface Damage {
  /** In tables and pages: something is lost. */
  readonly pages: readonly string[];
  /** In full-text indexes, which are made anew from what they index. */
  readonly text: readonly string[];
}

const RESTORE = "It is kept as it is. lily restore <folder> puts a backup in its place, and keeps it.";

/** Opens a file for reading. A file that is not there, newer, or no database, is a row. */
export function openForReading(file: string, check: string, schema?: DatabaseSchema): Opened {
  let db: Database.Database | undefined;
  try {
    // Throws where the folder may not be looked into, which is something else than a file that is not there.
    if (statSync(file, { throwIfNoEntry: false }) === undefined)
      return { check: fine(check, `${file} does not exist yet`) };
    db = openReadOnly(file, schema);
    if (schema !== undefined) assertVersion(readVersion(db), schema, file);
    db.prepare("SELECT count(*) FROM sqlite_schema").get();
    return { db };
  } catch (thrown) {
    db?.close();
    const error = toStorageError(thrown, file);
    const code = isLilyError(error) ? error.code : "storage_failed";
    const next = code === "storage_damaged" ? RESTORE : isLilyError(error) ? error.next : undefined;
    return { check: wrong(check, errorMessage(error), { code, next }) };
  }
}

/** A connection that only reads. @throws {LilyError} `storage_newer` for a file of a newer program than `schema` knows */
export function openReadOnly(file: string, schema?: DatabaseSchema): Database.Database {
  if (isReadOnly(file)) return openCopy(file);
  if (schema !== undefined) assertNotNewer(file, schema);
  return new Database(file, { readonly: true, fileMustExist: true });
}

function nameOf(db: Database.Database): string {
  return db.memory ? "the file, which cannot be written," : db.name;
}

/** The row of a file's pages. */
export function checkWhole(db: Database.Database, check: string): Check {
  const [problem] = damageIn(db).pages;
  if (problem === undefined) return fine(check, `${nameOf(db)} is whole`);
  return wrong(check, `${nameOf(db)} is damaged: ${problem}`, { code: "storage_damaged", next: RESTORE });
}

/** Asks SQLite whether every page of `db` is what it should be. Reads only. */
export function damageIn(db: Database.Database): Damage {
  let found: string[];
  try {
    found = db.prepare<[], string>("PRAGMA quick_check").pluck().all();
  } catch (error) {
    // The damage is such that not even looking for it works.
    if (!isDamage(error)) throw error;
    found = [errorMessage(error)];
  }
  const problems = found.filter((problem) => problem !== "ok");
  const isText = (problem: string): boolean => problem.includes("FTS5 table");
  return { pages: problems.filter((problem) => !isText(problem)), text: problems.filter(isText) };
}

/**
 * Makes sure that nobody else has `file` open or is in a turn, and folds its log into it. A file that is missing or
 * damaged is nobody's.
 *
 * @throws {LilyError} `storage_busy`
 */
export function assertUnused(file: string, clock: Clock): void {
  if (statSync(file, { throwIfNoEntry: false }) === undefined) return;
  const db = new Database(file, { fileMustExist: true, timeout: 0 });
  try {
    // In this mode the first look takes the whole file, which fails while any other connection has it open.
    db.pragma("locking_mode = EXCLUSIVE");
    if (!hasTable(db, "leases")) return;
    const held = db.prepare<[number], number>("SELECT max(expires_at) FROM leases WHERE expires_at > ?");
    const until = held.pluck().get(clock.now()) ?? null;
    if (until !== null)
      throw inUse(file, `somebody is in a turn, until ${new Date(until).toISOString()} at most`);
  } catch (error) {
    if (isBusy(error)) throw inUse(file, "another process has it open");
    const told = toStorageError(error, file);
    if (!isLilyError(told) || told.code !== "storage_damaged") throw told;
  } finally {
    db.close();
  }
}

function inUse(file: string, why: string): LilyError {
  return new LilyError("storage_busy", `the database ${file} is in use: ${why}`, {
    next: "Nothing was changed; end every lily that uses this folder and try again.",
  });
}

/** Whether `db` has a table of that name. */
export function hasTable(db: Database.Database, name: string): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(name) !== undefined;
}

/** An item that is found by its words. */
interface IndexedRow {
  readonly id: number;
  readonly path: string;
}

const INDEXED = `SELECT i.id, n.path FROM items i
  JOIN namespaces n ON n.id = i.namespace_id WHERE i.index_fields IS NOT NULL`;

/** The row of the text indexes. Reads only. */
export function checkTextIndex(db: Database.Database): Check {
  const wanted = new Map(TEXT_TABLES.map((name) => [name, new Set<number>()]));
  for (const { id, path } of db.prepare<[], IndexedRow>(INDEXED).iterate())
    wanted.get(textTableOf(path))?.add(id);
  let [missing, extra, texts] = [0, 0, 0];
  for (const [name, ids] of wanted) {
    // FTS5 keeps one row an entry in this table of its own.
    const entries = new Set(db.prepare<[], number>(`SELECT id FROM ${name}_docsize`).pluck().all());
    texts += ids.size;
    missing += [...ids].filter((id) => !entries.has(id)).length;
    extra += [...entries].filter((id) => !ids.has(id)).length;
  }
  const [damage] = damageIn(db).text;
  if (missing === 0 && extra === 0 && damage === undefined)
    return fine("text index", `${texts} texts, in step with the items`);
  const found = `${missing} texts are missing, ${extra} are of no item${damage === undefined ? "" : `; ${damage}`}`;
  // FTS5 refuses to forget a text that it never had, so the put that would replace it fails.
  const next =
    "lily doctor --repair makes it anew; until then /recall may miss turns, and what is missing cannot be changed.";
  return warning("text index", found, next);
}

/** Makes the text indexes anew, in one transaction: whoever writes meanwhile waits. @returns how many texts they have */
export function rebuildTextIndex(db: Database.Database): Promise<number> {
  const rebuild = db.transaction(() => rebuildTextTables(db));
  return retryBusy(() => rebuild.immediate(), { file: db.name });
}

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
export function storeUsage(db: Database.Database): DiskUse[] {
  const items = hasTable(db, "items") ? db.prepare<[], DiskUse>(ITEMS).all() : [];
  const told = items.reduce((sum, { bytes }) => sum + bytes, 0);
  const rest = { kind: "indexes and free pages", count: null, bytes: Math.max(0, sizeOf(db.name) - told) };
  return [...items, rest, { kind: "log of the store", count: null, bytes: sizeOf(`${db.name}-wal`) }];
}

/** What lies in a checkpoint file. */
export function checkpointUsage(db: Database.Database): DiskUse[] {
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
