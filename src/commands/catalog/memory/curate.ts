/** `/memory verify`, `edit`, `conflicts` and `resolve`: what keeps facts true. */
import { done, type Envelope } from "#src/kernel/envelope.ts";
import type { MemoryRecord } from "#memory/record.ts";
import type { Change } from "#memory/facts/types.ts";
import { firstWord, parseFlags, usageEnvelope } from "../../parse-command.ts";
import { guarded, objectionTo } from "./remembered.ts";
import { findRecord, notFound } from "./find-record.ts";
import { momentOf, readDomain, usageOf, type ActionContext, type MemoryAction } from "./memory-action.ts";
import { factNames, recordRow, recordsShown } from "./record-row.ts";
import { counted } from "#src/kernel/markdown.ts";

/** `/memory verify <id…>`. */
export const verifyAction: MemoryAction = {
  words: "verify",
  usage: "<id …>",
  summary: "confirm facts; show says which were not confirmed for long",
  reads: false,
  async run(args, context) {
    const { facts, who } = context.memory;
    if (args === "") return { envelope: usageEnvelope("which ones?", usageOf(this)) };
    const ids: string[] = [];
    for (const id of args.split(/\s+/u)) {
      const found = await findRecord(context, id);
      if (found.kind === "refused") return { envelope: nothingConfirmed(found.envelope) };
      ids.push(found.record.id);
    }
    const { verified } = await facts.verify(who, ids);
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
  return only === undefined ? counted(verified.length, "fact") : `${factNames([only])} is`;
}

/** `/memory edit <id> <text>`. */
export const editAction: MemoryAction = {
  words: "edit",
  usage: "<id> [<text>] [--about <word>] [--domain <domain>]",
  summary: "correct a fact: its text, what it is about, or its domain",
  reads: false,
  async objection(args, context) {
    const { change } = editOf(args);
    // A secret behind a mistyped flag is a secret.
    const text = change === undefined ? args : `${change.text ?? ""} ${change.about ?? ""}`.trim();
    return text === "" ? undefined : objectionTo(text, context);
  },
  async run(args, context) {
    const { id, change, problem } = editOf(args);
    if (change === undefined) return { envelope: usageEnvelope(problem, usageOf(this)) };
    const found = await findRecord(context, id);
    if (found.kind === "refused") return { envelope: found.envelope };
    const { facts, who } = context.memory;
    return guarded(context, () => facts.edit(who, found.record.id, change));
  },
};

interface Edit {
  readonly id: string;
  readonly change?: Change;
  readonly problem: string;
}

function editOf(args: string): Edit {
  const flags = parseFlags(args, { values: ["about", "domain"] });
  if (!flags.ok) return { id: "", problem: flags.problem };
  const { word: id, rest: text } = firstWord(flags.text);
  const read = readDomain(flags.values.domain);
  if (!read.ok) return { id, problem: read.problem };
  const { about } = flags.values;
  const change: Change = {
    ...(text === "" ? {} : { text }),
    ...(about === undefined ? {} : { about }),
    ...(read.domain === undefined ? {} : { domain: read.domain }),
  };
  const problem = "an id is needed, and the new text, --about or --domain";
  return id === "" || Object.keys(change).length === 0 ? { id, problem } : { id, change, problem };
}

/** `/memory conflicts`. */
export const conflictsAction: MemoryAction = {
  words: "conflicts",
  usage: "",
  summary: "facts about the same, of which one may hold",
  reads: true,
  async run(_args, context) {
    const groups = await context.memory.facts.conflicts(context.memory.who);
    const shown = recordsShown(groups.flatMap(({ records }) => rowsOf(records, context)));
    const message =
      groups.length === 0
        ? "No two facts are about the same (--about)."
        : `${counted(groups.length, "thing")} with more than one fact.`;
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
  summary: "keep this one of the facts about the same",
  reads: false,
  async run(args, context) {
    if (args === "") return { envelope: usageEnvelope("which one holds?", usageOf(this)) };
    const found = await findRecord(context, args);
    if (found.kind === "refused") return { envelope: found.envelope };
    const outcome = await context.memory.facts.resolve(context.memory.who, found.record.id);
    if (outcome.kind === "none") return { envelope: notFound(args) };
    const { kept, superseded } = outcome;
    const message = `${factNames([kept])} holds${superseded.length === 0 ? "" : `, in place of ${factNames(superseded)}`}.`;
    const envelope = done("memory_resolved", message, {
      data: { record: recordRow(kept, momentOf(context)), superseded: rowsOf(superseded, context) },
    });
    return { envelope, isCommitted: true };
  },
};

function rowsOf(records: readonly MemoryRecord[], context: ActionContext) {
  return records.map((record) => recordRow(record, momentOf(context)));
}
