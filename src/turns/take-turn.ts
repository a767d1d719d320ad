/** One turn under the lock of its key: waits for it, runs the graph on `latest`, follows hand-offs. */
import { envelopeOf, type Envelope } from "#src/kernel/envelope.ts";
import { isLilyError, LilyError } from "#src/kernel/errors.ts";
import { defined } from "#src/kernel/json.ts";
import type { KeyRef } from "#src/sessions/repository.ts";
import type { Lease } from "#src/storage/backend.ts";
import { lockName } from "#src/sessions/session-key.ts";
import type { CollectedDeliveries, GraphRunOutcome, InboundMessage, TurnEvent } from "./runner.ts";
import { obeyRequests, type RunningTurn } from "./stop.ts";
import type { TurnDeps } from "./turn-deps.ts";
import { refusal, unstoredEnvelope, type TurnReply } from "./turn-reply.ts";

/** A message handed from session to session more often than this is going in circles. */
const MAX_HANDOFFS = 5;

/** How a key is waited for. */
interface Waiting {
  readonly ref: KeyRef;
  /** Ends the wait. */
  readonly signal: AbortSignal;
  /** Called once when another turn runs on the key. */
  readonly onWait: () => void;
}

/** Waits for the key, and does `work` while it is held. Never rejects: what is thrown is told. */
export async function withKey(
  deps: TurnDeps,
  { ref, signal, onWait }: Waiting,
  work: (lease: Lease) => Promise<TurnReply>,
): Promise<TurnReply> {
  let lease: Lease | undefined;
  try {
    lease = await deps.locks.acquire(lockName(ref), { waitMs: deps.lockWaitMs, onWait, signal });
    return await work(lease);
  } catch (error) {
    return failedReply(lease === undefined && signal.aborted ? stoppedWhileWaiting(error) : error);
  } finally {
    // A lease that cannot be given back runs out.
    await lease?.release().catch(() => undefined);
  }
}

/** The reply of a turn that was not stored, because of what was thrown; whose it is, the caller adds. */
export function failedReply(error: unknown): TurnReply {
  const envelope = envelopeOf(error);
  // A turn that waits for a person is kept, and its envelope tells what of it goes on.
  const told = envelope.code === "turn_waiting" ? envelope : unstoredEnvelope(envelope);
  return { ...refusal(told), outcome: "failed" };
}

/** What a message is told that was stopped before its turn began; a reason that says more is kept. */
export function stoppedWhileWaiting(reason: unknown): unknown {
  if (isLilyError(reason)) return reason;
  return new LilyError("turn_stopped", "stopped while it waited for another turn", {
    next: "The message was not stored; send it again when you want.",
  });
}

/** A turn whose key is held. */
export interface HeldTurn {
  readonly ref: KeyRef;
  readonly message: InboundMessage;
  /** What a person decided: the turn that waits goes on with it; `message` is the one that it answers. */
  readonly resume?: object;
  /** The deliveries of which the message is made, when it is more than one. */
  readonly collected?: CollectedDeliveries;
  /** The receipt of what was erased for it. */
  readonly erased?: Envelope;
  readonly lease: Lease;
  /** Stops the answer. */
  readonly stop: AbortController;
  readonly onEvent: ((event: TurnEvent) => void) | undefined;
}

/** Takes the message to its reply; it can be stopped from this process and others meanwhile. */
export async function takeTurn(deps: TurnDeps, turn: HeldTurn): Promise<TurnReply> {
  const { ref, lease, stop, collected, message } = turn;
  const before = await deps.beforeRun?.({ ref, message, lease });
  if (before?.kind === "reply") return before.reply;
  const deliveryIds = [message.id, ...(collected?.others ?? []).map(({ deliveryId }) => deliveryId)];
  const running: RunningTurn = { deliveryIds, token: lease.token, stop, sessionId: "" };
  const leave = deps.stops.enter(lease.lockName, running);
  const endLooking = obeyRequests(deps, ref, running);
  try {
    return await followHandoffs(deps, { ...turn, ...before }, running);
  } finally {
    leave();
    await endLooking();
  }
}

async function followHandoffs(deps: TurnDeps, turn: HeldTurn, running: RunningTurn): Promise<TurnReply> {
  const chain = await deps.repository.readChain(turn.ref);
  running.sessionId = chain?.latest ?? deps.ids.uuid();
  let { message } = turn;
  const told: string[] = [];
  for (let hop = 0; hop <= MAX_HANDOFFS; hop += 1) {
    const outcome = await runOn(deps, running.sessionId, { ...turn, message });
    told.push(...noticesOf(deps, running.sessionId, outcome));
    if (outcome.kind === "reply") return withNotices(outcome.reply, told);
    running.sessionId = outcome.sessionId;
    message = outcome.message;
  }
  throw new LilyError("turn_loop", `the message was handed on ${MAX_HANDOFFS} times without an answer`, {
    next: "lily verify names what is wrong with the conversation; the message was not stored.",
  });
}

async function runOn(deps: TurnDeps, threadId: string, turn: HeldTurn): Promise<GraphRunOutcome> {
  const { ref, message, resume, lease, collected, erased, onEvent } = turn;
  const { lockName, token } = lease;
  onEvent?.({ type: "session", sessionId: threadId });
  let outcome: GraphRunOutcome | undefined;
  try {
    outcome = await deps.runner.run({
      threadId,
      ...ref,
      message,
      fence: { lockName, token, ...defined({ collected, erased }) },
      signal: lease.lost,
      ...defined({ resume, onEvent }),
    });
    return outcome;
  } finally {
    deps.afterTurn?.(threadId, hasSealed(outcome));
  }
}

/** Whether the session of the run is sealed now: its message went to another one, or there was none to answer. */
function hasSealed(outcome: GraphRunOutcome | undefined): boolean {
  return outcome?.kind === "handoff" || outcome?.reply.outcome === "rotated";
}

const DROPPED =
  "The checkpoint of this conversation could not be read and was dropped; it goes on from the transcript, of which nothing is lost.";

/** Told once, by the turn that had to go on without a checkpoint, or that leaves none. */
function noticesOf(deps: TurnDeps, sessionId: string, { unstored }: GraphRunOutcome): string[] {
  const stored = `The checkpoint of this conversation could not be stored: ${unstored}. No answer is lost: the transcript makes up for it.`;
  return [
    ...(deps.takeDropped?.(sessionId) === true ? [DROPPED] : []),
    ...(unstored === undefined ? [] : [stored]),
  ];
}

function withNotices(reply: TurnReply, told: readonly string[]): TurnReply {
  if (told.length === 0) return reply;
  const all = reply.notice === undefined ? told : [...told, reply.notice];
  return { ...reply, notice: [...new Set(all)].join("\n") };
}
