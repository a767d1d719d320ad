/** The session in which a terminal's last turn ended, so that one which was begun elsewhere since is noticed. */
import type { TurnReply } from "#src/turns/turn-reply.ts";

/** Outcomes that, without a turn, name the session that would be next: before the first turn nobody has begun it. */
const BEGIN_NOTHING: ReadonlySet<TurnReply["outcome"]> = new Set(["command", "refused", "ignored"]);

/** The session that `reply` leaves the conversation in; `previous` where it began and changed nothing. */
export function sessionAfter(
  { outcome, sessionId, turn }: Pick<TurnReply, "outcome" | "sessionId" | "turn">,
  previous: string | undefined,
): string | undefined {
  if (sessionId === "" || (turn === null && BEGIN_NOTHING.has(outcome))) return previous;
  return sessionId;
}
