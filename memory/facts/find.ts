/** Finds a record by its id or the beginning of it, in every domain, task, scope and state of one owner. */
import { assertOwner } from "../namespaces.ts";
import type { MemoryRecord } from "../record.ts";
import type { FactDeps } from "./fact-deps.ts";
import { compareText, readAll } from "./rows.ts";
import type { Found, Who } from "./types.ts";

/** Fewer characters would name a record by accident. */
const MIN_PREFIX = 4;

/** What `text` stands for; see `FactStore.find`. */
export async function find(deps: FactDeps, who: Who, text: string): Promise<Found> {
  assertOwner(who.owner);
  return matchId(await readAll(deps.store, who.owner), text);
}

/** The records with these full ids, in the same order; see `FactStore.byIds`. One reading, however many are named. */
export async function byIds(deps: FactDeps, who: Who, ids: readonly string[]): Promise<MemoryRecord[]> {
  assertOwner(who.owner);
  if (ids.length === 0) return [];
  const records = new Map((await readAll(deps.store, who.owner)).map((record) => [record.id, record]));
  return ids.flatMap((id) => records.get(id) ?? []);
}

/** The records whose id is `text` or begins with it; dashes and case do not count, fewer than 4 characters find nothing. */
export function matchId(records: readonly MemoryRecord[], text: string): Found {
  const wanted = idPart(text);
  if (wanted === undefined) return { kind: "none" };
  const hits = records.filter(({ id }) => hexOf(id).startsWith(wanted));
  const [first] = hits;
  if (first === undefined) return { kind: "none" };
  if (hits.length === 1) return { kind: "one", record: first };
  return { kind: "many", records: hits.toSorted((a, b) => compareText(a.id, b.id)) };
}

function idPart(text: string): string | undefined {
  const wanted = hexOf(text.trim());
  return wanted.length >= MIN_PREFIX && /^[0-9a-f]+$/u.test(wanted) ? wanted : undefined;
}

function hexOf(id: string): string {
  return id.toLowerCase().replaceAll("-", "");
}
