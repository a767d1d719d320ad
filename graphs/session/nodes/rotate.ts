/** `rotate`: seals this session, opens its successor and moves `latest`, by one put of the chain. */
import { HumanMessage } from "@langchain/core/messages";
import { freezeSession, keepContents } from "#src/agents/snapshot.ts";
import { isRefusal, type CommandRotation } from "#src/commands/command.ts";
import { findCommand } from "#src/commands/registry.ts";
import { endingText } from "#src/explain/verdict-text.ts";
import { toInstant } from "#src/kernel/clock.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { defined } from "#src/kernel/json.ts";
import { deriveUuid } from "#src/kernel/ids.ts";
import { continuationOf, latestEntry, rotateChain, type Chain } from "#src/sessions/chain.ts";
import type { SessionRepository } from "#src/sessions/repository.ts";
import { textHashOf } from "#src/sessions/seal.ts";
import { carriedOf, type SessionFields } from "#src/sessions/session-fields.ts";
import type { RotateVerdict } from "#src/sessions/verdict.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { labelThreads } from "#src/turns/thread-registrar.ts";
import { handOff, linkTo, standBeside } from "../window.ts";
import { rotationReply } from "../delivery.ts";
import { catchUp } from "../locate-session.ts";
import { toolsToFreeze } from "../tools.ts";
import { readRunContext, type NodeRuntime, type RunContext } from "../run-context.ts";
import type { SessionStateValues, SessionUpdate, TurnInFlight } from "../state.ts";
import { messagesInFlight, requireTurn } from "../turn-messages.ts";

export function rotate(deps: SessionDeps) {
  return async (state: SessionStateValues, runtime: NodeRuntime): Promise<SessionUpdate> => {
    const { session, turn } = requireTurn(state);
    const { verdict } = state;
    if (verdict?.action !== "rotate") throw new LilyError("internal", "there is no verdict to rotate by");
    const run = readRunContext(deps, runtime);
    const before = await readLatest(run.repository, session);
    const plan = planOf({ turn, verdict, before, session });
    // A fork begins in the middle of the transcript; the session is sealed with all of it.
    const ended = verdict.trigger === "replay" ? (await catchUp(deps, run, session)).session : session;
    const chain = await moveLatest(deps, run, { before, session: ended, turn, verdict, plan });
    await labelThreads(deps.threads, chain);
    const opened = latestEntry(chain);
    const leaving = messagesInFlight(state, turn);
    const message = leaving[0] ?? new HumanMessage({ id: turn.firstMessageId, content: turn.text });
    if (isAnsweredThere(plan, turn)) {
      const { deliveryId, attachments } = turn;
      const { sessionId } = opened;
      const answered = { ref: session, sessionId, deliveryId, text: plan.text, attachments };
      return handOff(deps, run, { ...answered, leaving, message, why: endingText(verdict) }, state);
    }
    const reply = rotationReply(chain, opened, turn.deliveryId);
    return {
      turn: null,
      reply,
      ...standBeside(deps, state, {
        deliveryId: turn.deliveryId,
        message,
        leaving,
        told: linkTo(opened.sessionId, reply.envelope.message, "Continue in the new session"),
      }),
    };
  };
}

async function readLatest(repository: SessionRepository, session: SessionFields): Promise<Chain> {
  const chain = await repository.readChain(session);
  if (chain?.latest === session.sessionId) return chain;
  throw rotationFailed(
    `session ${session.sessionId} is not the latest of its key any more`,
    "Send the message again; nothing was changed.",
  );
}

/** How the new session begins. */
interface Plan extends CommandRotation {
  readonly continuesUpTo?: Readonly<Record<string, number>>;
}

/** Whether something is left of the message for the new session. */
function isAnsweredThere(plan: Plan, turn: TurnInFlight): boolean {
  return plan.text !== "" || turn.attachments !== undefined;
}

function planOf({ turn, verdict, before: chain, session }: Omit<Move, "plan">): Plan {
  const entry = latestEntry(chain);
  const { text } = turn;
  if (verdict.trigger === "replay")
    return { text, continues: [entry.sessionId], continuesUpTo: { [entry.sessionId]: verdict.turns } };
  if (verdict.trigger === "reversal")
    return { text, continues: continuationOf(chain, entry.previous ?? "", entry, session.turns) };
  const command = turn.command === null ? undefined : findCommand(turn.command.name);
  if (turn.command === null || command?.kind !== "rotating") return { continues: [], text };
  const plan = command.plan(turn.command.args, { chain, entry, session });
  if (!isRefusal(plan)) return plan;
  throw rotationFailed(plan.message, plan.next);
}

interface Move {
  readonly before: Chain;
  readonly session: SessionFields;
  readonly turn: TurnInFlight;
  readonly verdict: RotateVerdict;
  readonly plan: Plan;
}

/**
 * The successor's id is derived from this session and the delivery, so a repeated rotation makes the same session.
 * What is written before the chain is idempotent; what is read back after it proves that `latest` moved.
 */
async function moveLatest(deps: SessionDeps, { repository, blobs }: RunContext, move: Move): Promise<Chain> {
  const { before, session, turn, verdict, plan } = move;
  const sessionId = deriveUuid("successor", session.sessionId, turn.deliveryId);
  const { owner, activeAgent } = session;
  const carried = carriedOf(session);
  const tools = await toolsToFreeze(deps, { agent: activeAgent, model: carried.model });
  const ofOwner = owner === deps.localOwner;
  const begins = await freezeSession(deps.agentFiles, activeAgent, { ofOwner, tools });
  await keepContents(blobs, owner, begins.contents);
  const after = rotateChain(before, {
    sessionId,
    snapshot: begins.hash,
    at: toInstant(deps.clock.now()),
    deliveryId: turn.deliveryId,
    textHash: turn.textHash,
    ...(isAnsweredThere(plan, turn) ? { leftHash: textHashOf(plan.text, turn.attachments) } : {}),
    verdict,
    turns: session.turns,
    head: session.head,
    carried,
    title: session.title,
    continues: plan.continues,
    ...defined({ continuesUpTo: plan.continuesUpTo }),
    salt: () => deps.ids.salt(),
  });
  await repository.indexSession(sessionId, session);
  await repository.writeDelivery(session, turn.deliveryId, { sessionId, turn: null });
  // A put that is reported as failed and was made all the same counts as made.
  const failure = await repository.writeChain(after).then(
    () => undefined,
    (error: unknown) => ({ error }),
  );
  const stored = await repository.readChain(session);
  if (stored?.latest === sessionId && latestEntry(stored).previous === session.sessionId) return stored;
  if (failure !== undefined) throw failure.error;
  throw rotationFailed("the new session was not stored", "Try again; the conversation goes on here.");
}

function rotationFailed(what: string, next: string | undefined): LilyError {
  return new LilyError("rotation_failed", what, defined({ next }));
}
