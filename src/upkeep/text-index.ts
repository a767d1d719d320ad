/** The text indexes of a store file: whether each has exactly the items that are to be found by words, and made anew. */
import type { Database } from "better-sqlite3";
import { retryBusy } from "#memory/stores/sqlite/retry-busy.ts";
import { rebuildTextTables, TEXT_TABLES, textTableOf } from "#memory/stores/sqlite/text-tables.ts";
import { fine, warning, type Check } from "./check.ts";
import { damageIn } from "./database-file.ts";

/** An item that is found by its words. */
interface IndexedRow {
  readonly id: number;
  readonly path: string;
}

const INDEXED = `SELECT i.id, n.path FROM items i
  JOIN namespaces n ON n.id = i.namespace_id WHERE i.index_fields IS NOT NULL`;

/** The row of the text indexes. Reads only. */
export function checkTextIndex(db: Database): Check {
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
export function rebuildTextIndex(db: Database): Promise<number> {
  const rebuild = db.transaction(() => rebuildTextTables(db));
  return retryBusy(() => rebuild.immediate(), { file: db.name });
}
