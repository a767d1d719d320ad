/** `/memory review`: facts that were put aside, because they read like instructions or hid something. */
import { done } from "#src/kernel/envelope.ts";
import { usageEnvelope } from "../../parse-command.ts";
import { guarded } from "./remembered.ts";
import { findWaiting, notWaiting } from "./find-record.ts";
import { momentOf, usageOf, type MemoryAction } from "./memory-action.ts";
import { recordRow, recordsShown } from "./record-row.ts";
import { counted } from "#src/kernel/markdown.ts";

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
      waiting.length === 0 ? "Nothing waits for a review." : `${counted(waiting.length, "fact")} to judge.`;
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
    if (args === "") return { envelope: usageEnvelope("which one?", usageOf(this)) };
    const found = await findWaiting(context, args);
    if (found.kind === "refused") return { envelope: found.envelope };
    const { facts, who } = context.memory;
    return guarded(context, () => facts.review.accept(who, found.record.id));
  },
};

/** `/memory review reject <id>`. */
export const rejectAction: MemoryAction = {
  words: "review reject",
  usage: "<id>",
  summary: "erase it",
  reads: false,
  async run(args, context) {
    if (args === "") return { envelope: usageEnvelope("which one?", usageOf(this)) };
    const found = await findWaiting(context, args);
    if (found.kind === "refused") return { envelope: found.envelope };
    const { id } = found.record;
    const { facts, who } = context.memory;
    const outcome = await facts.review.reject(who, id);
    if (outcome.kind === "none") return { envelope: notWaiting(args) };
    const envelope = done("memory_rejected", "Erased; it will not come back by an import.", {
      data: { id },
    });
    return { envelope, isCommitted: true };
  },
};
