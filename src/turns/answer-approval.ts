/** Takes what a person decided on a call of a tool to the turn that waits for it, in whatever process it was asked about. */
import { envelopeOf } from "#src/kernel/envelope.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { entryOf } from "#src/sessions/chain.ts";
import type { KeyRef, SessionRepository } from "#src/sessions/repository.ts";
import { parseOwner, parseSessionKey } from "#src/sessions/session-key.ts";
import { newestTurns } from "#src/sessions/transcript.ts";
import { parseAnswer, type Approval, type Decision } from "#src/tools/approval.ts";
import { takeTurn, withKey } from "./take-turn.ts";
import type { TurnDeps, TurnRequest } from "./turn-deps.ts";
import { refusal, type TurnReply } from "./turn-reply.ts";

/** A call that waits, and the turn that it belongs to. */
export interface OpenApproval {
  readonly sessionId: string;
  readonly deliveryId: string;
  readonly approval: Approval;
}

/** What a person decided. */
export interface ApprovalAnswer extends Pick<TurnRequest, "owner" | "sessionKey" | "stop" | "onEvent"> {
  /** Of the approval that is answered. */
  readonly id: string;
  readonly decision: Decision;
}

/** What answering works with. */
export interface AnswerDeps extends TurnDeps {
  /** The call of a key that a person is asked about. */
  readonly openApproval: (ref: KeyRef) => Promise<OpenApproval | undefined>;
}

/** Answers, and takes the turn on to its reply, or to its next question. Never throws for what a person can do wrong. */
export async function answerApproval(deps: AnswerDeps, answer: ApprovalAnswer): Promise<TurnReply> {
  const { owner, sessionKey, id, decision, onEvent } = answer;
  const ref = { owner, sessionKey };
  const stop = new AbortController();
  const heed = (): void => stop.abort(answer.stop?.reason);
  if (answer.stop?.aborted === true) heed();
  answer.stop?.addEventListener("abort", heed);
  try {
    parseOwner(owner);
    parseSessionKey(sessionKey);
    const onWait = (): void => onEvent?.({ type: "waiting" });
    return await withKey(deps, { ref, signal: stop.signal, onWait }, async (lease) => {
      const open = await deps.openApproval(ref);
      if (open?.approval.id !== id) return refusal(envelopeOf(await whyNot(deps.repository, ref, id)));
      const resume = { decisions: [decision] };
      const read = parseAnswer(resume, open.approval);
      if ("problem" in read) return refusal(envelopeOf(new LilyError("request_invalid", read.problem)));
      const message = { id: open.deliveryId, content: "" };
      return takeTurn(deps, { ref, message, resume, lease, stop, onEvent });
    });
  } catch (error) {
    return refusal(envelopeOf(error));
  } finally {
    answer.stop?.removeEventListener("abort", heed);
  }
}

/** Turns that are looked through for a question that is closed. */
const RECENT_TURNS = 20;

async function whyNot(repository: SessionRepository, ref: KeyRef, id: string): Promise<LilyError> {
  const chain = await repository.readChain(ref);
  const latest = chain && entryOf(chain, chain.latest);
  for (const sessionId of [latest?.sessionId, latest?.previous]) {
    if (!chain || !sessionId) continue;
    const turns = await newestTurns(repository, chain, { sessionId, count: RECENT_TURNS });
    const found = turns
      .flatMap(({ explanation }) => explanation.approvals ?? [])
      .find((one) => one.id === id);
    if (found === undefined) continue;
    const how = {
      approve: "approved",
      edit: "approved",
      reject: "rejected",
      closed: "closed by a later message",
    };
    const what = `this call of ${found.tool} was ${how[found.decision]} already`;
    return new LilyError("approval_answered", what, { next: "Nothing was run by this answer." });
  }
  return new LilyError("approval_not_found", "no call of a tool waits under this id", {
    next: "Nothing was run. GET …/approvals tells what waits.",
  });
}
