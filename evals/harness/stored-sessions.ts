/** What runners show of sessions that they can read from the store: summaries, history, verification. */
import { turnsGiven } from "#src/sessions/call-receipt.ts";
import type { Chain, ChainEntry } from "#src/sessions/chain.ts";
import type { SessionRepository } from "#src/sessions/repository.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { verifyOwner, type VerifyProblem } from "#src/sessions/verify.ts";
import type { Verdict } from "#src/sessions/verdict.ts";
import type { TurnReply } from "#src/turns/turn-reply.ts";
import type { HistoryTurn, Runner, SentReply, SessionSummary } from "./runner.ts";

/** The part of a runner that reads the store. */
export function storedSessions(
  repository: SessionRepository,
  owner: string,
): Pick<Runner, "history" | "sessions" | "verify"> {
  return {
    history: (sessionId) => historyOf(repository, sessionId),
    sessions: (sessionKey) => sessionsOf(repository, { owner, sessionKey }),
    async verify(key) {
      const report = await verifyOwner(repository, owner, key);
      return { ok: report.ok, problems: report.problems.map(problemText) };
    },
  };
}

/** A reply as cases see it. */
export function sentReply(reply: TurnReply): SentReply {
  const { announcement, envelope, outcome, repeated, sessionId } = reply;
  return {
    text: envelope.message,
    code: envelope.code,
    outcome,
    sessionId,
    repeated,
    ...(announcement === undefined ? {} : { announcement }),
    ...(envelope.data === undefined ? {} : { data: envelope.data }),
  };
}

async function historyOf(repository: SessionRepository, sessionId: string): Promise<HistoryTurn[]> {
  const ref = await repository.findSession(sessionId);
  if (ref === undefined) return [];
  const transcript = { ...ref, sessionId };
  const turns = await repository.lastStoredTurn(transcript);
  return (await repository.readTurns(transcript, { from: 1, to: turns })).map(turnOf);
}

/** The parts of a turn that cases see. */
export type ShownTurn = Pick<TurnRecord, "sessionId" | "turn" | "kind" | "messages" | "explanation" | "head">;

/** A turn as cases see it. */
export function turnOf({ sessionId, turn, kind, messages, explanation, head }: ShownTurn): HistoryTurn {
  return {
    turn,
    kind,
    messages: messages.map(({ role, content }) => ({ role, content })),
    givenSessions: turnsGiven(sessionId, explanation).map((range) => range.sessionId),
    recalled: (explanation.recalled ?? []).map(({ sessionId, rationale }) => ({ sessionId, rationale })),
    decision: decisionOf(explanation.verdict),
    head,
  };
}

/** The decision that a turn was made by, as a case sees it. */
function decisionOf(verdict: Verdict | undefined): HistoryTurn["decision"] {
  if (verdict === undefined) return { action: "none" };
  if (verdict.action === "stay") {
    const { decidedBy, result } = verdict.semantic ?? {};
    return {
      action: "stay",
      ...(result === undefined ? {} : { topic: result }),
      ...(decidedBy === undefined ? {} : { decidedBy }),
    };
  }
  const decidedBy = "decidedBy" in verdict ? { decidedBy: verdict.decidedBy } : {};
  return { action: "rotate", topic: verdict.trigger, ...decidedBy };
}

async function sessionsOf(
  repository: SessionRepository,
  ref: { readonly owner: string; readonly sessionKey: string },
): Promise<SessionSummary[]> {
  const chain = await repository.readChain(ref);
  if (chain === undefined) return [];
  return Promise.all(chain.sessions.map((entry) => summaryOf(repository, chain, entry)));
}

async function summaryOf(
  repository: SessionRepository,
  chain: Chain,
  entry: ChainEntry,
): Promise<SessionSummary> {
  const { continues, ordinal, previous, sealed, sessionId } = entry;
  return {
    ordinal,
    sessionId,
    latest: sessionId === chain.latest,
    sealed: sealed !== undefined,
    seal: sealed?.seal ?? null,
    turns: sealed?.turns ?? (await repository.lastStoredTurn({ ...chain, sessionId })),
    reason: entry.opened.verdict?.trigger ?? "first",
    previous,
    continues,
  };
}

function problemText({ ordinal, turn, problem }: VerifyProblem): string {
  return `session ${ordinal}${turn === null ? "" : `, turn ${turn}`}: ${problem}`;
}
