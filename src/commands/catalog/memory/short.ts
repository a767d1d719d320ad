/** `/memory short show`: the conversation's own state; its turns are its short-term memory. */
import { fromInstant } from "#src/kernel/clock.ts";
import { done } from "#src/kernel/envelope.ts";
import { markdownFacts } from "#src/kernel/markdown.ts";
import { localMinute } from "#src/sessions/day-boundary.ts";
import type { MemoryAction } from "./memory-action.ts";

export const shortShowAction: MemoryAction = {
  words: "short show",
  usage: "",
  summary: "what this conversation holds by itself",
  reads: true,
  async run(_args, { session, storage, solver, policy }) {
    const { lastActivityAt, turns, contextFrom = 1 } = session;
    const last = lastActivityAt === null ? null : localMinute(fromInstant(lastActivityAt), policy.timeZone);
    const message = `This conversation has ${turns} committed ${turns === 1 ? "turn" : "turns"}; they are its short-term memory.`;
    const envelope = done("memory_short_shown", message, {
      next: "/history shows them.",
      data: { threadId: session.sessionId, turns, contextFrom, lastActivity: last, solver, storage },
      body: markdownFacts([
        ["turns", String(turns)],
        ["given from", contextFrom > 1 ? `turn ${contextFrom}` : null],
        ["last turn", last],
        ["answers", solver === "symbolic" ? "without a model" : solver],
        ["thread", session.sessionId],
        ["data", storage],
      ]),
    });
    return { envelope };
  },
};
