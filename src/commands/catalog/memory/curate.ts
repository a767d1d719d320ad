/** `/memory verify`, `edit`, `conflicts` and `resolve`: what keeps facts true. */
import { done, type Envelope } from "#src/kernel/envelope.ts";
import { shortId, type MemoryRecord } from "#memory/record.ts";
import { usageEnvelope } from "../../flags.ts";
import { guarded, objectionTo } from "./guarded.ts";
import { findRecord, notFound } from "./find-record.ts";
import { momentOf, usageOf, type ActionContext, type MemoryAction } from "./memory-action.ts";
import { factCount, recordRow, recordsShown } from "./record-row.ts";

/** `/memory verify <id…>`. */
export const verifyAction: MemoryAction = {
  words: "verify",
  usage: "<id …>",
  summary: "confirm facts; show says which were not confirmed for long",
  reads: false,
  async run(args, context) {
    const { book, who } = context.memory;
    if (args === "") return { envelope: usageEnvelope("which ones?", usageOf(this)) };
    const ids: string[] = [];
    for (const id of args.split(/\s+/u)) {
      const found = await findRecord(context, id);
      if (found.kind === "refused") return { envelope: nothingConfirmed(found.envelope) };
      ids.push(found.record.id);
    }
    const { verified } = await book.verify(who, ids);
    const envelope = done("memory_verified", `${verifiedText(verified)} confirmed.`, {
      ...recordsShown(rowsOf(verified, context)),
    });
    return { envelope, isCommitted: true };
  },
};

/** One wrong id among several leaves all of them as they were. */
function nothingConfirmed({ next = "", ...envelope }: Envelope): Envelope {
  return { ...envelope, next: `${next} Nothing was confirmed.`.trim() };
}

function verifiedText(verified: readonly MemoryRecord[]): string {
  const [only] = verified.length === 1 ? verified : [];
  return only === undefined ? factCount(verified.length) : `“${only.text}” (${shortId(only.id)}) is`;
}

/** `/memory edit <id> <text>`. */
export const editAction: MemoryAction = {
  words: "edit",
  usage: "<id> <text>",
  summary: "correct a fact",
  reads: false,
  async objection(args, context) {
    const { text } = editOf(args);
    return text === "" ? undefined : objectionTo(text, context);
  },
  async run(args, context) {
    const { id, text } = editOf(args);
    if (text === "") return { envelope: usageEnvelope("an id and the new text are needed", usageOf(this)) };
    const found = await findRecord(context, id);
    if (found.kind === "refused") return { envelope: found.envelope };
    const { book, who } = context.memory;
    return guarded(context, () => book.edit(who, found.record.id, { text }));
  },
};

function editOf(args: string): { readonly id: string; readonly text: string } {
  const [, id = "", text = ""] = /^(\S+)\s+([\s\S]+)$/u.exec(args) ?? [];
  return { id, text };
}

/** `/memory conflicts`. */
export const conflictsAction: MemoryAction = {
  words: "conflicts",
  usage: "",
  summary: "facts that do not agree with each other",
  reads: true,
  async run(_args, context) {
    const groups = await context.memory.book.conflicts(context.memory.who);
    const shown = recordsShown(groups.flatMap(({ records }) => rowsOf(records, context)));
    const message =
      groups.length === 0
        ? "No facts contradict each other."
        : `${groups.length} ${groups.length === 1 ? "contradiction" : "contradictions"}.`;
    const envelope = done("memory_conflicts", message, {
      ...(groups.length === 0
        ? {}
        : { next: "/memory resolve <id> keeps that one and replaces the others." }),
      body: shown.body,
      data: {
        groups: groups.map(({ group, records }) => ({ group, records: rowsOf(records, context) })),
        ...shown.data,
      },
    });
    return { envelope };
  },
};

/** `/memory resolve <id>`. */
export const resolveAction: MemoryAction = {
  words: "resolve",
  usage: "<id>",
  summary: "keep this one of the facts that contradict each other",
  reads: false,
  async run(args, context) {
    if (args === "") return { envelope: usageEnvelope("which one holds?", usageOf(this)) };
    const found = await findRecord(context, args);
    if (found.kind === "refused") return { envelope: found.envelope };
    const outcome = await context.memory.book.resolve(context.memory.who, found.record.id);
    if (outcome.kind === "none") return { envelope: notFound(args) };
    const { kept, superseded } = outcome;
    const message = `“${kept.text}” (${shortId(kept.id)}) holds${replacedText(superseded)}.`;
    const envelope = done("memory_resolved", message, {
      data: { record: recordRow(kept, momentOf(context)), superseded: rowsOf(superseded, context) },
    });
    return { envelope, isCommitted: true };
  },
};

function replacedText(superseded: readonly MemoryRecord[]): string {
  const names = superseded.map(({ id, text }) => `“${text}” (${shortId(id)})`).join(" and ");
  return superseded.length === 0 ? "" : `, in place of ${names}`;
}

function rowsOf(records: readonly MemoryRecord[], context: ActionContext) {
  return records.map((record) => recordRow(record, momentOf(context)));
}
