/** `/memory verify`, `edit`, `conflicts`, `resolve` and `review`: what keeps facts true. */
import { done } from "#src/kernel/envelope.ts";
import { defined } from "#src/kernel/json.ts";
import { counted } from "#src/kernel/markdown.ts";
import type { Change } from "#memory/facts/types.ts";
import { committed } from "../../command.ts";
import { firstWord, parseFlags, refuseUsage } from "../../parse-command.ts";
import { checkWritten, written } from "../remember.ts";
import {
  factNames,
  findRecord,
  findWaiting,
  recordRow,
  recordsShown,
  refuseNotWaiting,
  refuseUnknown,
} from "./records.ts";
import { readDomain, usageOf, type MemoryAction } from "./memory-action.ts";

export const verifyAction: MemoryAction = {
  words: "verify",
  usage: "<id …>",
  summary: "confirm facts; show says which were not confirmed for long",
  asks: "which ones?",
  async run(args, context) {
    const { facts, who } = context.memory;
    const ids: string[] = [];
    // One wrong id among several leaves all of them as they were.
    for (const id of args.split(/\s+/u))
      ids.push((await findRecord(context, id, "Nothing was confirmed.")).id);
    const { verified } = await facts.verify(who, ids);
    const what = verified.length === 1 ? `${factNames(verified)} is` : counted(verified.length, "fact");
    return committed("memory_verified", `${what} confirmed.`, recordsShown(verified, context));
  },
};

const EDIT_USAGE = "<id> [<text>] [--about <word>] [--domain <domain>]";

export const editAction: MemoryAction = {
  words: "edit",
  usage: EDIT_USAGE,
  summary: "correct a fact: its text, what it is about, or its domain",
  check: (args, context) =>
    checkWritten(args, context, () => {
      const { change } = editOf(args);
      return [`${change.text ?? ""} ${change.about ?? ""}`];
    }),
  async run(args, context) {
    const { id, change } = editOf(args);
    const record = await findRecord(context, id);
    const { facts, who } = context.memory;
    return written(context, () => facts.edit(who, record.id, change));
  },
};

function editOf(args: string): { readonly id: string; readonly change: Change } {
  const usage = usageOf({ words: "edit", usage: EDIT_USAGE });
  const flags = parseFlags(args, { values: ["about", "domain"], usage });
  const { word: id, rest: text } = firstWord(flags.text);
  const { domain, ...about } = flags.values;
  const change = {
    ...(text === "" ? {} : { text }),
    ...about,
    ...defined({ domain: readDomain(domain, usage) }),
  };
  if (id === "" || Object.keys(change).length === 0)
    refuseUsage("an id is needed, and the new text, --about or --domain", usage);
  return { id, change };
}

export const conflictsAction: MemoryAction = {
  words: "conflicts",
  usage: "",
  summary: "facts about the same, of which one may hold",
  reads: true,
  async run(_args, context) {
    const groups = await context.memory.facts.conflicts(context.memory.who);
    const shown = recordsShown(
      groups.flatMap(({ records }) => records),
      context,
    );
    const data = {
      groups: groups.map(({ group, records }) => ({ group, ...recordsShown(records, context).data })),
      ...shown.data,
    };
    if (groups.length === 0)
      return done("memory_conflicts", "No two facts are about the same (--about).", { data });
    return done("memory_conflicts", `${counted(groups.length, "thing")} with more than one fact.`, {
      next: "/memory resolve <id> keeps that one and replaces the others.",
      body: shown.body,
      data,
    });
  },
};

export const resolveAction: MemoryAction = {
  words: "resolve",
  usage: "<id>",
  summary: "keep this one of the facts about the same",
  asks: "which one holds?",
  async run(args, context) {
    const { facts, who } = context.memory;
    const outcome = await facts.resolve(who, (await findRecord(context, args)).id);
    if (outcome.kind === "none") return refuseUnknown(args);
    const { kept, superseded } = outcome;
    const others = superseded.length === 0 ? "" : `, in place of ${factNames(superseded)}`;
    return committed("memory_resolved", `${factNames([kept])} holds${others}.`, {
      data: {
        record: recordRow(kept, context),
        superseded: superseded.map((old) => recordRow(old, context)),
      },
    });
  },
};

export const reviewAction: MemoryAction = {
  words: "review",
  usage: "",
  summary: "what was put aside for you to judge, as data: it was never given to a model",
  reads: true,
  async run(args, context) {
    if (args !== "") refuseUsage("accept or reject, and which one?", "/memory review [accept|reject <id>]");
    const { facts, who } = context.memory;
    const waiting = await facts.review.list(who);
    const shown = recordsShown(waiting, context);
    if (waiting.length === 0) return done("memory_review", "Nothing waits for a review.", shown);
    return done("memory_review", `${counted(waiting.length, "fact")} to judge.`, {
      next: "/memory review accept <id> keeps one, reject <id> erases it.",
      ...shown,
    });
  },
};

export const acceptAction: MemoryAction = {
  words: "review accept",
  usage: "<id>",
  summary: "keep it",
  asks: "which one?",
  async run(args, context) {
    const { facts, who } = context.memory;
    const record = await findWaiting(context, args);
    return written(context, () => facts.review.accept(who, record.id));
  },
};

export const rejectAction: MemoryAction = {
  words: "review reject",
  usage: "<id>",
  summary: "erase it",
  asks: "which one?",
  async run(args, context) {
    const { facts, who } = context.memory;
    const { id } = await findWaiting(context, args);
    const outcome = await facts.review.reject(who, id);
    if (outcome.kind === "none") return refuseNotWaiting(args);
    return committed("memory_rejected", "Erased; it will not come back by an import.", { data: { id } });
  },
};
