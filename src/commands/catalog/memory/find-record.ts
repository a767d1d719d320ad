/** Finds the one record that a person means by an id, or says why there is not one. */
import { quoted } from "#src/explain/reason.ts";
import { refused, type Envelope } from "#src/kernel/envelope.ts";
import type { MemoryRecord } from "#memory/record.ts";
import type { ActionContext } from "./memory-action.ts";
import { momentOf } from "./memory-action.ts";
import { factCount, recordRow, recordsShown } from "./record-row.ts";

/** The record, or the refusal. */
export type FoundRecord =
  | { readonly kind: "one"; readonly record: MemoryRecord }
  | { readonly kind: "refused"; readonly envelope: Envelope };

/** The record with that full or short id, in whatever domain and state it is. */
export async function findRecord(context: ActionContext, id: string): Promise<FoundRecord> {
  const { facts, who } = context.memory;
  const found = looksLikeId(id) ? await facts.find(who, id) : ({ kind: "none" } as const);
  if (found.kind === "one") return found;
  return {
    kind: "refused",
    envelope: found.kind === "many" ? ambiguous(context, found.records, id) : notFound(id),
  };
}

/** Whether a text can be a full or short id: at least four characters of a UUID. */
export function looksLikeId(text: string): boolean {
  return /^[0-9a-f]{4}[0-9a-f-]{0,32}$/iu.test(text);
}

/** The refusal of an id or of words that fit nothing. */
export function notFound(wanted?: string): Envelope {
  const what = wanted === undefined ? "that" : quoted(wanted);
  return refused("memory_not_found", `nothing that is remembered fits ${what}`, {
    next: "/memory show lists what is remembered, with its ids; --task <name> looks in that of a task.",
  });
}

/** The refusal of an id that nothing which waits for a review has. */
export function notWaiting(wanted: string): Envelope {
  return refused("memory_not_found", `nothing that waits for a review has the id ${quoted(wanted)}`, {
    next: "/memory review lists what waits, with its ids.",
  });
}

/** Several records fit: which one is asked back. */
export function ambiguous(
  context: ActionContext,
  records: readonly MemoryRecord[],
  wanted: string,
): Envelope {
  return refused("memory_ambiguous", `${factCount(records.length)} fit ${quoted(wanted)}`, {
    next: "Nothing was changed. Say which one by its id.",
    ...recordsShown(records.map((record) => recordRow(record, momentOf(context)))),
  });
}
