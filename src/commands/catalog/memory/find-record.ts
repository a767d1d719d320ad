/** Finds the one record that a person means by an id, or says why there is not one. */
import { counted, joined, quoted } from "#src/kernel/markdown.ts";
import type { MemoryRecord } from "#memory/record.ts";
import { refuse } from "../../command.ts";
import type { MemoryContext } from "./memory-action.ts";
import { recordsShown } from "./record-row.ts";

/** The record with that full or short id, in whatever domain and state it is; none (with a `note`) or several are refused. */
export async function findRecord(context: MemoryContext, id: string, note = ""): Promise<MemoryRecord> {
  return (
    theOne(context, await recordsById(context, id), id) ?? refuseUnknown(id, joined([HOW_TO_FIND, note]))
  );
}

/** The record with that full or short id among those that wait for a review; none or several are refused. */
export async function findWaiting(context: MemoryContext, id: string): Promise<MemoryRecord> {
  return theOne(context, await waitingRecords(context, id), id) ?? refuseNotWaiting(id);
}

/** Those that have the id, or begin with it. */
export async function recordsById(
  { memory: { facts, who } }: MemoryContext,
  id: string,
): Promise<readonly MemoryRecord[]> {
  const found = looksLikeId(id) ? await facts.find(who, id) : ({ kind: "none" } as const);
  if (found.kind === "one") return [found.record];
  return found.kind === "many" ? found.records : [];
}

/** Likewise among those that wait for a review. */
export async function waitingRecords(
  { memory: { facts, who } }: MemoryContext,
  id: string,
): Promise<readonly MemoryRecord[]> {
  const waiting = looksLikeId(id) ? await facts.review.list(who) : [];
  return waiting.filter((record) => record.id.startsWith(id.toLowerCase()));
}

/** Whether a text can be a full or short id: at least four characters of a UUID. */
export function looksLikeId(text: string): boolean {
  return /^[0-9a-f]{4}[0-9a-f-]{0,32}$/iu.test(text);
}

/** Facts that a person is shown of many. */
const LISTED = 50;

/** The one record, `undefined` for none; several are refused. */
export function theOne(
  context: MemoryContext,
  records: readonly MemoryRecord[],
  wanted: string,
): MemoryRecord | undefined {
  return records.length > 1 ? refuseAmbiguous(context, records, wanted) : records[0];
}

/** Asks back which one is meant. */
export function refuseAmbiguous(
  context: MemoryContext,
  records: readonly MemoryRecord[],
  wanted: string,
): never {
  const clipped = records.length > LISTED ? `; ${LISTED} are listed` : "";
  return refuse("memory_ambiguous", `${counted(records.length, "fact")} fit ${quoted(wanted)}${clipped}`, {
    next: "Nothing was changed. Say which one by its id.",
    ...recordsShown(records.slice(0, LISTED), context),
  });
}

const HOW_TO_FIND =
  "/memory show lists what is remembered, with its ids; --task <name> looks in that of a task.";

/** Refuses an id, or words, that fit nothing. */
export function refuseUnknown(wanted?: string, next = HOW_TO_FIND): never {
  const what = wanted === undefined ? "that" : quoted(wanted);
  return refuse("memory_not_found", `nothing that is remembered fits ${what}`, { next });
}

/** Refuses an id that nothing which waits for a review has. */
export function refuseNotWaiting(wanted: string): never {
  return refuse("memory_not_found", `nothing that waits for a review has the id ${quoted(wanted)}`, {
    next: "/memory review lists what waits, with its ids.",
  });
}
