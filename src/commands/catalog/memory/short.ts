/** `/memory short show` and `/memory short checkpoints`: the conversation's own state, as LangGraph stores it. */
import { fromInstant } from "#src/kernel/clock.ts";
import { done, refused } from "#src/kernel/envelope.ts";
import { localMinute } from "#src/sessions/day-boundary.ts";
import type { CheckpointNote } from "../../command.ts";
import { parseFlags, usageEnvelope } from "../../flags.ts";
import { usageOf, type MemoryAction } from "./memory-action.ts";

/** `/memory short show`. */
export const shortShowAction: MemoryAction = {
  words: "short show",
  usage: "",
  summary: "what this conversation holds by itself",
  reads: true,
  async run(_args, { session, storage, solver, policy }) {
    const { lastActivityAt, turns, contextFrom } = session;
    const last = lastActivityAt === null ? null : localMinute(fromInstant(lastActivityAt), policy.timeZone);
    const envelope = done(
      "memory_short_shown",
      `This conversation has ${turns} committed ${turns === 1 ? "turn" : "turns"}; they are its short-term memory.`,
      {
        next: "/history shows them; /memory short checkpoints lists the stored states.",
        data: {
          threadId: session.sessionId,
          turns,
          contextFrom: contextFrom ?? 1,
          lastActivity: last,
          solver,
          storage,
        },
      },
    );
    return { envelope };
  },
};

const DEFAULT_LIMIT = 10;
const MAX_LIMIT = 100;

/** `/memory short checkpoints [--limit N]`. */
export const shortCheckpointsAction: MemoryAction = {
  words: "short checkpoints",
  usage: "[--limit N]",
  summary: "the stored states of this conversation, newest first",
  reads: true,
  async run(args, { checkpoints, session, policy }) {
    const flags = parseFlags(args, { values: ["limit"] });
    const limit = flags.ok ? Number(flags.values.limit ?? DEFAULT_LIMIT) : Number.NaN;
    if (!flags.ok || !Number.isInteger(limit) || limit < 1 || limit > MAX_LIMIT)
      return { envelope: usageEnvelope(`a limit is a number from 1 to ${MAX_LIMIT}`, usageOf(this)) };
    if (checkpoints === undefined) {
      return {
        envelope: refused("memory_unavailable", "checkpoints cannot be read from here", {
          next: "Read the history of the thread with a LangGraph client.",
        }),
      };
    }
    const notes = await checkpoints(limit);
    const envelope = done("memory_checkpoints", countText(notes), {
      data: {
        threadId: session.sessionId,
        checkpoints: notes.map((note) => ({
          ...note,
          at: localMinute(fromInstant(note.at), policy.timeZone),
        })),
      },
    });
    return { envelope };
  },
};

function countText({ length }: readonly CheckpointNote[]): string {
  if (length === 0) return "Nothing of this conversation is stored yet.";
  return length === 1 ? "The newest stored state." : `The newest ${length} stored states.`;
}
