/** The full-text indexes of the store file, each item in one of them by the first label of its namespace, and how they are asked. */
import type { Database } from "better-sqlite3";
import { LIGHT, STOP_WORDS, wordSegmenter } from "#src/kernel/words.ts";
import {
  indexedTexts,
  MAX_QUERY_CHARACTERS,
  MAX_QUERY_TERMS,
  normalizeText,
  toSearchableText,
  UNSPACED_RUN,
} from "../index-fields.ts";

/** Names of the indexes. Facts, and passages of documents, have one of their own; all else shares the first. */
export const TEXT_TABLES = ["item_text", "fact_text", "passage_text"] as const;

/** Name of an index. */
export type TextTable = (typeof TEXT_TABLES)[number];

// To rank a question FTS5 reads every entry of each of its words: in one index for all, a few passages would be found the
// more slowly the more was ever said.
const BY_ROOT: ReadonlyMap<string, TextTable> = new Map([
  ["memory", "fact_text"],
  ["evidence", "passage_text"],
]);

/** The first label of `path`, a namespace as `encodePath` writes it. */
export function rootOf(path: string): string {
  return path.slice(0, path.indexOf("."));
}

/** The index of the items at `path`. */
export function textTableOf(path: string): TextTable {
  return BY_ROOT.get(rootOf(path)) ?? "item_text";
}

// Measured on conversations with assistants: 4 of 100 more are found with `light`; where a person answers, 4 fewer.
// The index has no copy of the text (content='') and forgets a text only when it is told that text again, which with
// secure-delete removes its words at once; a contentless_delete table would keep them until it is merged.
// Positions are kept (detail=full): bm25 has nothing to count without them.
const createSql = (table: TextTable): string => `
  DROP TABLE IF EXISTS ${table};
  CREATE VIRTUAL TABLE ${table} USING fts5 (
    body, light, content = '', tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
  );
  INSERT INTO ${table} (${table}, rank) VALUES ('secure-delete', 1);
  INSERT INTO ${table} (${table}, rank) VALUES ('rank', 'bm25(1.0, ${LIGHT})');`;

interface IndexedRow {
  readonly id: number;
  readonly path: string;
  readonly fields: string;
  readonly value: string;
}

const ITEMS_AT_ONCE = 500;

/** Makes all indexes anew from the items. Runs in a transaction. @returns how many texts they have */
export function rebuildTextTables(db: Database): number {
  db.exec(TEXT_TABLES.map(createSql).join("\n"));
  const next = db.prepare<[number, number], IndexedRow>(
    `SELECT i.id, n.path, i.index_fields AS fields, i.value FROM items i JOIN namespaces n ON n.id = i.namespace_id
     WHERE json_valid(i.index_fields) AND json_valid(i.value) AND i.id > ? ORDER BY i.id LIMIT ?`,
  );
  let texts = 0;
  for (let rows = next.all(0, ITEMS_AT_ONCE); rows.length > 0;) {
    for (const { id, path, fields, value } of rows) {
      const found = indexedTexts(value, JSON.parse(fields) as string[], rootOf(path));
      db.prepare(`INSERT INTO ${textTableOf(path)} (rowid, body, light) VALUES (?, ?, ?)`).run(id, ...found);
      texts += 1;
    }
    rows = next.all(rows.at(-1)?.id ?? 0, ITEMS_AT_ONCE);
  }
  return texts;
}

const WORD = new RegExp(`(?<unspaced>${UNSPACED_RUN})|[\\p{L}\\p{N}\\p{M}\\p{Co}]+`, "gu");

// Names that are written as one: LOT-77-A, j.doe@ex.org, 1.2.3. They are looked up whole as well as in parts.
// It begins where a word does: tried at each letter, a question of 20,000 letters without a space would take 13 s.
const COMPOUND = /(?<![\p{L}\p{N}\p{M}])[\p{L}\p{N}\p{M}]+(?:[-\u2010._@/:+][\p{L}\p{N}\p{M}]+)+/gu;

// Words of Chinese and Japanese that nearly every text holds, beside single kana.
const UNSPACED_STOP_WORDS: ReadonlySet<string> = new Set("的了是在我你他她它们和也都吗呢吧不有这那");
const SINGLE_LETTER = /^(?:[a-z]|\p{sc=Hira})$/u;

/**
 * A person's words as an FTS5 query that cannot be broken: quoted words, any of which may match; `undefined` when there is
 * no word.
 */
export function toMatchQuery(text: string): string | undefined {
  const normal = normalizeText(text.slice(0, MAX_QUERY_CHARACTERS)).toLowerCase();
  const words = [...new Set(wordsIn(normal))];
  const telling = words.filter((word) => !isStopWord(word));
  const compounds = (normal.match(COMPOUND) ?? []).map((compound) =>
    compound.replaceAll(/[^\p{L}\p{N}\p{M}]+/gu, " "),
  );
  const terms = [...new Set([...compounds, ...(telling.length > 0 ? telling : words)])];
  if (terms.length === 0) return undefined;
  // Only letters, digits, marks and spaces are left by now, so there is nothing to escape.
  return terms
    .slice(0, MAX_QUERY_TERMS)
    .map((term) => `"${toSearchableText(term).trim()}"`)
    .join(" OR ");
}

function* wordsIn(text: string): Generator<string> {
  for (const { 0: word, groups } of text.matchAll(WORD)) {
    if (groups?.["unspaced"] === undefined) yield word;
    else for (const part of wordSegmenter().segment(word)) if (part.isWordLike === true) yield part.segment;
  }
}

function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word) || UNSPACED_STOP_WORDS.has(word) || SINGLE_LETTER.test(word);
}
