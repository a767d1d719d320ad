/** The commit of a turn: one put of one record, last; and what the session's fields are afterwards. */
import type { SessionDeps } from "#src/app/session-deps.ts";
import { fromInstant, toInstant } from "#src/kernel/clock.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { canonicalJson } from "#src/kernel/json.ts";
import { unitsAfter } from "#src/sessions/knowledge-units.ts";
import { defaultsAfter } from "#src/preparation/plugins.ts";
import { isRedacted, type StoredTurn } from "#src/sessions/redaction.ts";
import type { SessionRepository } from "#src/sessions/repository.ts";
import { linkTurn } from "#src/sessions/seal.ts";
import { applyChanges } from "#src/sessions/session-changes.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { temporalDue } from "#src/sessions/decide-rollover.ts";
import type { TurnBody, TurnRecord } from "#src/sessions/turn-record.ts";
import { policyOf } from "./policy-of.ts";
import type { TurnDraft } from "./turn-draft.ts";

/** A committed turn with the fields after it. */
export interface CommittedTurn {
  readonly record: TurnRecord;
  readonly session: SessionFields;
}

/**
 * Commits `draft` as the next turn of `session`.
 *
 * @throws {LilyError} `turn_conflict` when the session is not the latest of its key, or has another turn of that number; then,
 *   and when a write fails, nothing was committed.
 */
export async function commitTurn(
  deps: SessionDeps,
  repository: SessionRepository,
  session: SessionFields,
  draft: TurnDraft,
): Promise<CommittedTurn> {
  const turn = session.turns + 1;
  const body: TurnBody = { v: 1, sessionId: session.sessionId, turn, ...draft };
  const record = linkTurn(body, { head: session.head, salt: deps.ids.salt() });
  // Whatever can fail comes before the put: a turn that is told as failed is not stored.
  const after = advance(deps, session, record);
  await assertLatest(repository, session);
  const stored = await repository.readStoredTurn(session, turn);
  if (stored !== undefined) {
    if (isThisTurn(stored, draft)) return { record: stored, session: advance(deps, session, stored) };
    throw conflict(`turn ${turn} of session ${session.sessionId} was committed by another run`);
  }
  await putRecord(repository, session, record);
  return { record, session: after };
}

/** A run that did not begin in `admit`, or not under a lock, may come here after the session was ended. */
async function assertLatest(repository: SessionRepository, session: SessionFields): Promise<void> {
  const chain = await repository.readChain(session);
  if (chain?.latest !== session.sessionId) {
    throw conflict(`session ${session.sessionId} was ended before this turn was committed`);
  }
}

/** Whether an earlier try of the same run has put it, which was reported as failed; whenever that was. */
function isThisTurn(stored: StoredTurn, draft: TurnDraft): stored is TurnRecord {
  return !isRedacted(stored) && saidIn(stored) === saidIn(draft);
}

function saidIn({ explanation, messages }: Pick<TurnDraft, "explanation" | "messages">): string {
  const said = messages.map(({ timestamp: _at, ...message }) => message);
  return canonicalJson([explanation.requestId, said]);
}

function conflict(what: string): LilyError {
  return new LilyError("turn_conflict", what, { next: "Send the message again; it was not stored." });
}

/** Puts the record. A put that is reported as failed and was made all the same counts as made. */
async function putRecord(
  repository: SessionRepository,
  session: SessionFields,
  record: TurnRecord,
): Promise<void> {
  try {
    await repository.writeTurn(session, record);
  } catch (error) {
    const stored = await repository.readTurn(session, record.turn).catch(() => undefined);
    if (stored?.leaf !== record.leaf) throw error;
  }
}

/** The fields after a committed turn, erased or not. A stored time that lies ahead of the turn's is repaired. */
export function advance(deps: SessionDeps, before: SessionFields, record: StoredTurn): SessionFields {
  const { units: held, ...changed } = applyChanges(before, record.changes, record.turn);
  const units = unitsAfter(held, record);
  const session: SessionFields = { ...changed, ...(units === undefined ? {} : { units }) };
  const atMs = fromInstant(record.at);
  const first = session.firstActivityAt ?? record.at;
  const clocks = {
    firstActivityAt: fromInstant(first) > atMs ? record.at : first,
    lastActivityAt: record.at,
  };
  const due = temporalDue(clocks, policyOf(deps, session), atMs);
  return {
    ...session,
    ...clocks,
    ...(isRedacted(record) ? {} : whatItExplains(session, record)),
    turns: record.turn,
    head: record.head,
    expiresAt: due === undefined ? null : toInstant(due.dueMs),
  };
}

/** An answer without a model says once that there is none; a topic that nobody could judge is counted; what was chosen and worked is the key's. */
function whatItExplains(
  session: SessionFields,
  { explanation: { plugins, solver, verdict }, status }: TurnRecord,
): Pick<SessionFields, "unknownTopics" | "toldNoModel" | "keyPlugins"> {
  const keyPlugins = status === "completed" ? defaultsAfter(session.keyPlugins, plugins) : session.keyPlugins;
  const told = {
    toldNoModel: session.toldNoModel || solver === "symbolic",
    ...(keyPlugins === undefined ? {} : { keyPlugins }),
  };
  if (verdict?.action !== "stay" || verdict.semantic?.result !== "unknown") return told;
  return { ...told, unknownTopics: (session.unknownTopics ?? 0) + 1 };
}
