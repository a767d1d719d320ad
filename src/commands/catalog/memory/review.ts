/** `/memory review`: facts that were put aside, because they read like instructions or hid something. */
import { done } from "#src/kernel/envelope.ts";
import type { MemoryRecord } from "#memory/record.ts";
import { usageEnvelope } from "../../flags.ts";
import { guarded } from "./guarded.ts";
import { ambiguous, looksLikeId, notWaiting } from "./find-record.ts";
import { momentOf, usageOf, type ActionContext, type MemoryAction } from "./memory-action.ts";
import { factCount, recordRow, recordsShown } from "./record-row.ts";

/** `/memory review`. */
export const reviewAction: MemoryAction = {
  words: "review",
  usage: "",
  summary: "what was put aside for you to judge, as data: it was never given to a model",
  reads: true,
  async run(args, context) {
    if (args !== "")
      return {
        envelope: usageEnvelope("accept or reject, and which one?", "/memory review [accept|reject <id>]"),
      };
    const { facts, who } = context.memory;
    const waiting = await facts.review.list(who);
    const message =
      waiting.length === 0 ? "Nothing waits for a review." : `${factCount(waiting.length)} to judge.`;
    const envelope = done("memory_review", message, {
      ...(waiting.length === 0
        ? {}
        : { next: "/memory review accept <id> keeps one, reject <id> erases it." }),
      ...recordsShown(waiting.map((record) => recordRow(record, momentOf(context)))),
    });
    return { envelope };
  },
};

/** `/memory review accept <id>`. */
export const acceptAction: MemoryAction = {
  words: "review accept",
  usage: "<id>",
  summary: "keep it",
  reads: false,
  async run(args, context) {
    const found = await waitingFor(context, args);
    if (found.length !== 1 || found[0] === undefined)
      return { envelope: notOne(this, context, { found, id: args }) };
    const [record] = found;
    return guarded(context, () => context.memory.facts.review.accept(context.memory.who, record.id));
  },
};

/** `/memory review reject <id>`. */
export const rejectAction: MemoryAction = {
  words: "review reject",
  usage: "<id>",
  summary: "erase it",
  reads: false,
  async run(args, context) {
    const found = await waitingFor(context, args);
    if (found.length !== 1 || found[0] === undefined)
      return { envelope: notOne(this, context, { found, id: args }) };
    const { facts, who } = context.memory;
    const outcome = await facts.review.reject(who, found[0].id);
    if (outcome.kind === "none") return { envelope: notWaiting(args) };
    const envelope = done("memory_rejected", "Erased; it will not come back by an import.", {
      data: { id: found[0].id },
    });
    return { envelope, isCommitted: true };
  },
};

/** Of what waits for a review: an id of a fact that is remembered is none of these. */
async function waitingFor({ memory }: ActionContext, id: string): Promise<readonly MemoryRecord[]> {
  if (!looksLikeId(id)) return [];
  const waiting = await memory.facts.review.list(memory.who);
  return waiting.filter((record) => record.id.startsWith(id.toLowerCase()));
}

function notOne(
  action: MemoryAction,
  context: ActionContext,
  { found, id }: { readonly found: readonly MemoryRecord[]; readonly id: string },
) {
  if (id === "") return usageEnvelope("which one?", usageOf(action));
  return found.length === 0 ? notWaiting(id) : ambiguous(context, found, id);
}
