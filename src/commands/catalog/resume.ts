/** `/resume [session]`: opens a session that continues an earlier one; nothing sealed is reopened. */
import { done, envelopeOf, type Envelope } from "#src/kernel/envelope.ts";
import { LilyError } from "#src/kernel/errors.ts";
import {
  continuationOf,
  entryOf,
  type Chain,
  type ChainEntry,
  findSessionByReference,
} from "#src/sessions/chain.ts";
import type { CommandContext, CommandRotation, RotatingCommand } from "../command.ts";

export const resumeCommand: RotatingCommand = {
  kind: "rotating",
  name: "resume",
  summary: "Go on with an earlier conversation, in a new session that continues it",
  usage: "/resume [number or id]",
  effects: ["session"],
  textBehind: () => "",
  plan(args, context) {
    try {
      return args === "" ? planPrevious(context) : planNamed(args, context);
    } catch (error) {
      return envelopeOf(error);
    }
  },
  notice: resumedEnvelope,
};

type PlanContext = Pick<CommandContext, "chain" | "entry" | "session">;

/** Without an argument: what was before, and after it what was said since, so that no message is left behind. */
function planPrevious({ chain, entry, session }: PlanContext): CommandRotation {
  const previous = previousWithTurns(chain, entry);
  if (previous === undefined) {
    throw new LilyError("session_not_found", "nothing was said before this conversation", {
      next: "/sessions lists what there is.",
    });
  }
  return { continues: continuationOf(chain, previous.sessionId, entry, session.turns), text: "" };
}

/** The nearest session before `entry` in which something was said, or which continues one. */
function previousWithTurns(chain: PlanContext["chain"], entry: ChainEntry): ChainEntry | undefined {
  return chain.sessions
    .slice(0, entry.ordinal - 1)
    .findLast((earlier) => (earlier.sealed?.turns ?? 0) > 0 || earlier.continues.length > 0);
}

function planNamed(args: string, { chain, entry }: PlanContext): CommandRotation {
  const wanted = findSessionByReference(chain, args);
  if (wanted.sessionId === entry.sessionId) {
    throw new LilyError("command_usage", `session ${wanted.ordinal} is the one you are in`, {
      next: "/sessions lists the others.",
    });
  }
  return { continues: [wanted.sessionId], text: "" };
}

/** What is told of a session that goes on with others. */
export function resumedEnvelope(ended: ChainEntry, opened: ChainEntry, chain: Chain): Envelope {
  const names = opened.continues.map((sessionId) => nameOf(chain, sessionId)).join(", then ");
  return done("session_resumed", `Session ${opened.ordinal} goes on with ${names}.`, {
    next: `/resume ${ended.ordinal} goes back to the one that just ended, by itself.`,
    data: {
      sessionId: opened.sessionId,
      ordinal: opened.ordinal,
      continues: opened.continues,
      previous: ended.sessionId,
    },
  });
}

function nameOf(chain: Chain, sessionId: string): string {
  const entry = entryOf(chain, sessionId);
  const title = entry?.title === undefined ? "" : ` (“${entry.title}”)`;
  return `session ${entry?.ordinal ?? "?"}${title}`;
}
