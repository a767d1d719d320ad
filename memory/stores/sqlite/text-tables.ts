/** The full-text indexes of the store file: each item is in one of them, by the first label of its namespace. */

/** Names of the indexes. Facts, and passages of documents, have one of their own; all else shares the first. */
export const TEXT_TABLES = ["item_text", "fact_text", "passage_text"] as const;

/** Name of an index. */
export type TextTable = (typeof TEXT_TABLES)[number];

// To rank a question FTS5 reads every entry of each of its words: in one index for all, a few facts would be found
// the more slowly the more was ever said. An index has one root or all the others, so that a prefix of a namespace
// tells which one to ask.
const BY_ROOT: ReadonlyMap<string, TextTable> = new Map([
  ["memory", "fact_text"],
  ["evidence", "passage_text"],
]);

/** The index of the items at `path`, a namespace as `encodePath` writes it. */
export function textTableOf(path: string): TextTable {
  return BY_ROOT.get(path.slice(0, path.indexOf("."))) ?? "item_text";
}

/** The indexes that hold what is at and below `path`; the empty one is above everything. */
export function textTablesUnder(path: string): readonly TextTable[] {
  return path === "" ? TEXT_TABLES : [textTableOf(path)];
}

/** The roots with an index of their own, each with its name. */
export const OWN_TEXT_TABLES: readonly (readonly [root: string, table: TextTable])[] = [...BY_ROOT];
