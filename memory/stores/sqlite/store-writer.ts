/** The writing half of the store: one item with its namespace and its words. Runs inside a transaction. */
import { textsOf } from "../index-fields.ts";
import type { ItemChange } from "../operations.ts";
import { toSearchableText } from "./searchable-text.ts";
import type { StoredItem, StoreStatements } from "./store-statements.ts";
import { textTableOf, type TextTable } from "./text-tables.ts";

/** A `put` with what it needs beside the change. */
export interface PutContext {
  /** Field paths to index; false for none. */
  readonly fields: readonly string[] | false;
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Whether the vector of the stored item is also that of the new value; asked only when it has one. */
  readonly keepsVector: (id: number) => boolean;
}

/** The words of an item, and the fields by which they are found again. */
interface IndexedText {
  readonly fields: string | null;
  readonly text: string;
}

const NO_TEXT: IndexedText = { fields: null, text: "" };

/** Puts an item; one that exists keeps its place, its id and `createdAt`. */
export function putItem(
  statements: StoreStatements,
  change: ItemChange,
  json: string,
  context: PutContext,
): void {
  const namespaceId = statements.findNamespace.get(change.path) ?? addNamespace(statements, change.path);
  const stored = statements.findItem.get(namespaceId, change.key);
  const { fields, text } = indexedText(json, context.fields);
  const texts = statements.texts[textTableOf(change.path)];
  if (stored === undefined) {
    const { now } = context;
    const { lastInsertRowid } = statements.addItem.run(namespaceId, change.key, now, now, fields, json);
    if (fields !== null) texts.add.run(lastInsertRowid, text);
    return;
  }
  const vectorModel =
    stored.vectorModel !== null && context.keepsVector(stored.id) ? stored.vectorModel : null;
  statements.updateItem.run(context.now, fields, json, vectorModel, stored.id);
  replaceText(texts, stored, fields === null ? undefined : text);
}

/** Deletes an item, its words, and its namespace if that was the last one in it. */
export function deleteItem(statements: StoreStatements, change: ItemChange): void {
  const namespaceId = statements.findNamespace.get(change.path);
  if (namespaceId === undefined) return;
  const stored = statements.findItem.get(namespaceId, change.key);
  if (stored === undefined) return;
  replaceText(statements.texts[textTableOf(change.path)], stored, undefined);
  statements.deleteItem.run(stored.id);
  statements.dropEmptyNamespace.run(namespaceId, namespaceId);
}

function addNamespace(statements: StoreStatements, path: string): number {
  return Number(statements.addNamespace.run(path).lastInsertRowid);
}

type TextIndex = Pick<StoreStatements["texts"][TextTable], "add" | "remove">;

function replaceText(texts: TextIndex, stored: StoredItem, text: string | undefined): void {
  const before = storedText(stored);
  if (before === text) return;
  if (before !== undefined) texts.remove.run(stored.id, before);
  if (text !== undefined) texts.add.run(stored.id, text);
}

/** The text under which a stored item was indexed, made again from its value. */
function storedText(stored: StoredItem): string | undefined {
  if (stored.indexFields === null || stored.indexedValue === null) return undefined;
  return searchableText(stored.indexedValue, JSON.parse(stored.indexFields) as string[]);
}

function indexedText(json: string, fields: readonly string[] | false): IndexedText {
  if (fields === false || fields.length === 0) return NO_TEXT;
  const text = searchableText(json, fields);
  return text === "" ? NO_TEXT : { fields: JSON.stringify(fields), text };
}

/** The text under which an item is indexed. */
export function searchableText(json: string, fields: readonly string[]): string {
  return toSearchableText(textsOf(JSON.parse(json), fields).join("\n"));
}
