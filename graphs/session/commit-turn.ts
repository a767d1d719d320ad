/** The commit of a turn: one put of one record, last; and what the session's fields are afterwards. */
import { temporalDue } from "#src/sessions/temporal-rollover.ts";
import { fromInstant, toInstant } from "#src/kernel/clock.ts";
import { LilyError } from "#src/kernel/errors.ts";
import type { SessionRepository } from "#src/sessions/repository.ts";
import { applyChanges } from "#src/sessions/session-changes.ts";
import { linkTurn } from "#src/sessions/seal.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import type { TurnBody, TurnRecord } from "#src/sessions/turn-record.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { policyOf } from "./policy-of.ts";

/** What is committed: a turn's body without what the commit itself decides. */
export type TurnDraft = Omit<TurnBody, "v" | "sessionId" | "turn" | "at">;

/** A committed turn with the fields after it. */
export interface CommittedTurn {
  readonly record: TurnRecord;
  readonly session: SessionFields;
}

/**
 * Commits `draft` as the next turn of `session`. The delivery's pointer is written before the record: without the
 * record it points to nothing and counts as not handled.
 *
 * @throws {LilyError} `turn_conflict` when the transcript has that turn already; the writes' own errors.
 */
export async function commitTurn(
  deps: SessionDeps,
  repository: SessionRepository,
  session: SessionFields,
  draft: TurnDraft,
): Promise<CommittedTurn> {
  const nowMs = deps.clock.now();
  const turn = session.turns + 1;
  const body: TurnBody = { v: 1, sessionId: session.sessionId, turn, at: toInstant(nowMs), ...draft };
  const record = linkTurn(body, { head: session.head, salt: deps.ids.salt() });
  if ((await repository.readTurn(session, turn)) !== undefined) {
    throw new LilyError(
      "turn_conflict",
      `turn ${turn} of session ${session.sessionId} was committed by another run`,
      {
        next: "Send the message again; it was not stored.",
      },
    );
  }
  // Whatever can fail comes before the put: a turn that is told as failed is not stored.
  const after = advance(deps, applyChanges(session, draft.changes), record, nowMs);
  await repository.writeDelivery(session, draft.deliveryId, { sessionId: session.sessionId, turn });
  await repository.writeTurn(session, record);
  return { record, session: after };
}

/** The fields after a committed turn. A stored time that lies ahead of the clock is repaired to now. */
function advance(
  deps: SessionDeps,
  session: SessionFields,
  record: TurnRecord,
  nowMs: number,
): SessionFields {
  const first = session.firstActivityAt ?? record.at;
  const clocks = {
    firstActivityAt: fromInstant(first) > nowMs ? record.at : first,
    lastActivityAt: record.at,
  };
  const due = temporalDue(clocks, policyOf(deps, session), nowMs);
  return {
    ...session,
    ...clocks,
    turns: record.turn,
    head: record.head,
    expiresAt: due === undefined ? null : toInstant(due.dueMs),
  };
}
