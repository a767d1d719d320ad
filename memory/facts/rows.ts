/** The one way to records in a store: reads that drop what is another's, and writes under the derived id. */
import { AsyncBatchedStore, type BaseStore, type Item } from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import { toInstant, type Clock } from "#src/kernel/clock.ts";
import { deriveUuid, encodeLabel, type Ids } from "#src/kernel/ids.ts";
import {
  personalityPrefix,
  recordNamespace,
  type RecordPlace,
  reviewNamespace,
  startsWithLabels,
  taskIndexNamespace,
  taskPrefix,
} from "../namespaces.ts";
import type { SecretScanner } from "../policy/secret-scanner.ts";
import { type MemoryRecord, memoryRecordSchema, PERSONALITY_DOMAINS, taskSchema } from "../record.ts";

/** What every part of the fact store works with: the store, and what comes in from outside. */
export interface FactDeps {
  readonly store: BaseStore;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly scan: SecretScanner;
}

/** Now, as it is stored. */
export function instantOf({ clock }: Pick<FactDeps, "clock">): string {
  return toInstant(Math.trunc(clock.now()));
}

const PAGE = 500;

/** Records, and the items beside them that could not be read as one. */
export interface Rows {
  readonly records: MemoryRecord[];
  readonly unreadable: readonly Item[];
}

/** The id of a fact: the same for the same owner, place and text in comparable form, in any process. */
export function recordId(owner: string, place: RecordPlace, text: string): string {
  return deriveUuid("memory", owner, place.domain, place.task ?? "", place.scope, comparableText(text));
}

/**
 * Items at and below `prefix`, all pages of them. A store's prefix match may be a bare LIKE, so every row is compared
 * label by label.
 */
export async function readItems(store: BaseStore, prefix: readonly string[]): Promise<Item[]> {
  const items: Item[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await store.search([...prefix], { limit: PAGE, offset });
    items.push(...page.filter((item) => startsWithLabels(item.namespace, prefix)));
    if (page.length < PAGE) return items;
  }
}

/** Records of `owner` at and below each of `prefixes`, in the store's order. */
export async function readRecords(
  store: BaseStore,
  owner: string,
  prefixes: readonly (readonly string[])[],
): Promise<Rows> {
  const items = (await Promise.all(prefixes.map((prefix) => readItems(store, prefix)))).flat();
  const records: MemoryRecord[] = [];
  const unreadable: Item[] = [];
  for (const item of items) {
    const record = parseRow(owner, item);
    if (record === undefined) unreadable.push(item);
    else records.push(record);
  }
  return { records, unreadable };
}

/**
 * Ids of at most `limit` records that the store itself finds for a question in each of `prefixes`, best first in each: by
 * other forms of its words, or by its meaning. A store that gives no score has listed and not searched, so it finds none.
 */
export async function idsFound(
  store: BaseStore,
  prefixes: readonly (readonly string[])[],
  { query, limit }: { readonly query: string; readonly limit: number },
): Promise<string[]> {
  const found = await Promise.all(
    prefixes.map(async (prefix) => {
      const items = await store.search([...prefix], { query, limit });
      return items.filter(
        ({ namespace, score }) => score !== undefined && startsWithLabels(namespace, prefix),
      );
    }),
  );
  return found.flat().map(({ key }) => key);
}

/** A record that lies where it says it belongs; undefined for anything else. */
function parseRow(owner: string, { namespace, key, value }: Item): MemoryRecord | undefined {
  const parsed = memoryRecordSchema.safeParse(value);
  if (!parsed.success || parsed.data.id !== key) return undefined;
  const expected = namespaceOf(owner, parsed.data);
  const isHome = expected.length === namespace.length && startsWithLabels(namespace, expected);
  return isHome ? parsed.data : undefined;
}

function namespaceOf(owner: string, record: MemoryRecord): string[] {
  return isPending(record) ? reviewNamespace(owner) : recordNamespace(owner, record);
}

function isPending({ review }: MemoryRecord): boolean {
  return review?.state === "pending";
}

const taskItemSchema = z.strictObject({ schema_version: z.literal(1), task: taskSchema });

/** Namespaces of the tasks of `owner`, without their scopes. */
export async function taskPrefixes(store: BaseStore, owner: string): Promise<string[][]> {
  const items = await readItems(store, taskIndexNamespace(owner));
  return items.flatMap(({ value }) => {
    const parsed = taskItemSchema.safeParse(value);
    return parsed.success ? [taskPrefix(owner, parsed.data.task)] : [];
  });
}

/** Notes a task before its first record is put, so that no crash leaves a record that a listing does not find. */
async function noteTask(store: BaseStore, owner: string, task: string): Promise<void> {
  const namespace = taskIndexNamespace(owner);
  const key = encodeLabel(task);
  if ((await store.get(namespace, key)) !== null) return;
  await store.put(namespace, key, taskItemSchema.parse({ schema_version: 1, task }), false);
}

/** Every record of `owner` in every domain, task, scope and state; not what waits for a review. */
export async function readAll(store: BaseStore, owner: string): Promise<Rows> {
  const personality = PERSONALITY_DOMAINS.map((domain) => personalityPrefix(owner, domain));
  return readRecords(store, owner, [...personality, ...(await taskPrefixes(store, owner))]);
}

/** What waits for a review of `owner`, oldest first. */
export async function readPending(store: BaseStore, owner: string): Promise<Rows> {
  const rows = await readRecords(store, owner, [reviewNamespace(owner)]);
  rows.records.sort((a, b) => compareText(a.created_at, b.created_at) || compareText(a.id, b.id));
  return rows;
}

/** The record as it is stored now: what a decision reads right before it writes. */
export async function reread(
  store: BaseStore,
  owner: string,
  record: MemoryRecord,
): Promise<MemoryRecord | undefined> {
  const item = await store.get(namespaceOf(owner, record), record.id);
  return item === null ? undefined : parseRow(owner, item);
}

/**
 * Writes records where they belong, in one batch, which a store of ours does wholly or not at all; elsewhere the first comes
 * first.
 */
export async function putRecords(
  store: BaseStore,
  owner: string,
  records: readonly MemoryRecord[],
): Promise<void> {
  const puts = records.map((record) => ({
    namespace: namespaceOf(owner, record),
    key: record.id,
    value: memoryRecordSchema.parse(record),
    index: isPending(record) ? (false as const) : ["text"],
  }));
  for (const record of records)
    if (record.task !== null && !isPending(record)) await noteTask(store, owner, record.task);
  // The store that LangGraph gives to nodes has no batch of its own: it makes one of what is asked at once.
  if (store instanceof AsyncBatchedStore)
    await Promise.all(puts.map(({ namespace, key, value }) => store.put(namespace, key, value)));
  else await store.batch(puts);
}

/** Removes one record. */
export async function deleteRecord(store: BaseStore, owner: string, record: MemoryRecord): Promise<void> {
  await store.delete(namespaceOf(owner, record), record.id);
}

/** Order of texts by code unit, the same everywhere. */
export function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/**
 * `text` in comparable form. Trivial variants of a fact have the same, a change of a word or number does not:
 * "I live in  Ghent." and "i live in ghent", not "I live in Ghent since 2019".
 */
export function comparableText(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .normalize("NFKC")
    .replaceAll(/[’‘`´]/gu, "'")
    .replaceAll(/[“”„«»]/gu, '"')
    .replaceAll(/[‐‑‒–—]/gu, "-")
    .replaceAll(/\s+/gu, " ")
    .replaceAll(/^[\s"']+|[\s"'.!。！；;,،؛…]+$/gu, "")
    .trim();
}
