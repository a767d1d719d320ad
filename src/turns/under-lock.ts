/** One turn under the lock of its key: waits for it, runs the graph on `latest`, follows hand-offs. */
import { envelopeOf, type Envelope } from "#src/kernel/envelope.ts";
import { isLilyError, LilyError } from "#src/kernel/errors.ts";
import { passOn } from "#src/kernel/pass-on.ts";
import type { KeyRef } from "#src/sessions/repository.ts";
import type { Lease } from "#src/storage/backend.ts";
import { lockName } from "./lock-name.ts";
import { obeyStopRequests } from "./obey-stop-requests.ts";
import { boundWait, type StopAsked } from "./request-stop.ts";
import type { CollectedDeliveries, GraphRunOutcome, InboundMessage, TurnEvent } from "./runner.ts";
import { systemTimer } from "./timer.ts";
import type { TurnDeps } from "./turn-deps.ts";
import { refusal, type TurnReply } from "./turn-reply.ts";
import type { TurnRequest } from "./turn-request.ts";

/** A message handed from session to session more often than this is going in circles. */
const MAX_HANDOFFS = 5;

/** A message that waits for its key. */
export interface WaitingMessage {
  readonly message: InboundMessage;
  /** The turn that it stopped, for whose end it waits less long. */
  readonly stopped: StopAsked | undefined;
  /** Called when it has asked for the lock. */
  readonly onInLine: () => void;
}

/** Waits for the key and takes the message to its reply. */
export async function underLock(
  deps: TurnDeps,
  request: TurnRequest,
  { message, stopped, onInLine }: WaitingMessage,
): Promise<TurnReply> {
  let lease: Lease | undefined;
  const { stop, leave } = ownStop(request.stop);
  // What it stopped may take too long to end; nothing else ends its wait before the caller does.
  const wait = stopped === undefined ? undefined : ownStop(request.stop);
  const endWatch = stopped && boundWait(deps, stopped, (why) => wait?.stop.abort(why));
  try {
    const acquired = deps.locks.acquire(lockName(request), {
      waitMs: deps.lockWaitMs,
      ...signalOf(wait?.stop.signal ?? request.stop),
      onWait: () => request.onEvent?.({ type: "waiting" }),
    });
    onInLine();
    lease = await acquired;
    wait?.leave();
    await endWatch?.();
    const before = await deps.beforeRun?.({ ref: request, message, lease });
    if (before?.kind === "reply") return before.reply;
    const begun = { ref: request, message, lease, stop, ...eventsOf(request) };
    return await runUnderLease(deps, before === undefined ? begun : { ...begun, ...before });
  } catch (error) {
    const wasStopped = lease === undefined && request.stop?.aborted === true;
    return failedReply(wasStopped ? stoppedWhileWaiting(error) : error, message.id);
  } finally {
    leave();
    wait?.leave();
    await endWatch?.();
    await lease?.release();
  }
}

/** The reply of a turn that was not stored, because of what was thrown. */
export function failedReply(error: unknown, deliveryId: string): TurnReply {
  return { ...refusal(envelopeOf(error), { deliveryId }), outcome: "failed" };
}

/** What a message is told that was stopped before its turn began; a reason that says more is kept. */
export function stoppedWhileWaiting(reason: unknown): unknown {
  if (isLilyError(reason)) return reason;
  return new LilyError("turn_stopped", "stopped while it waited for another turn", {
    next: "The message was not stored; send it again when you want.",
  });
}

/** A stop of the turn's own, which the caller's signal triggers too until `leave` is called. */
function ownStop(signal: AbortSignal | undefined): { stop: AbortController; leave: () => void } {
  const stop = new AbortController();
  return { stop, leave: passOn(signal, stop) };
}

const signalOf = (signal: AbortSignal | undefined): { readonly signal?: AbortSignal } =>
  signal === undefined ? {} : { signal };

function eventsOf({ onEvent }: TurnRequest): Pick<TurnUnderLease, "onEvent"> {
  return onEvent === undefined ? {} : { onEvent };
}

/** A turn whose key is held. */
export interface TurnUnderLease {
  readonly ref: KeyRef;
  readonly message: InboundMessage;
  /** The deliveries of which the message is made, when it is more than one. */
  readonly collected?: CollectedDeliveries;
  /** The receipt of what was erased for it. */
  readonly erased?: Envelope;
  readonly lease: Lease;
  /** Stops the answer. */
  readonly stop: AbortController;
  readonly onEvent?: (event: TurnEvent) => void;
}

/** Takes the message to its reply; it can be stopped from this process and others meanwhile. */
export async function runUnderLease(deps: TurnDeps, turn: TurnUnderLease): Promise<TurnReply> {
  const { lease, stop, collected, message } = turn;
  const { owner, sessionKey } = turn.ref;
  const { token } = lease;
  const deliveryIds = [message.id, ...(collected?.others ?? []).map(({ deliveryId }) => deliveryId)];
  const leave = deps.stops.onKey(lease.lockName, { deliveryIds, token, stop });
  const { stopRequests, timer = systemTimer } = deps;
  const leased = { owner, sessionKey, token };
  const endLooking =
    stopRequests && obeyStopRequests(stopRequests, timer, { turn: leased, deliveryIds, stop });
  try {
    return await followHandoffs(deps, turn);
  } finally {
    leave();
    await endLooking?.();
  }
}

async function followHandoffs(deps: TurnDeps, turn: TurnUnderLease): Promise<TurnReply> {
  const repository = deps.repositoryUnder?.(turn.lease) ?? deps.repository;
  const chain = await repository.readChain(turn.ref);
  let threadId = chain?.latest ?? deps.ids.uuid();
  let next = turn.message;
  const told: string[] = [];
  for (let hop = 0; hop <= MAX_HANDOFFS; hop += 1) {
    const outcome = await runOn(deps, threadId, { ...turn, message: next });
    told.push(...noticesOf(deps, threadId));
    if (outcome.kind === "reply") return withNotices(outcome.reply, told);
    threadId = outcome.sessionId;
    next = outcome.message;
  }
  throw new LilyError("turn_loop", `the message was handed on ${MAX_HANDOFFS} times without an answer`, {
    next: "lily verify names what is wrong with the conversation; the message was not stored.",
  });
}

const DAMAGED =
  "A stored state of this conversation was damaged and could not be read; it goes on from the transcript, of which nothing is lost. lily doctor tells more.";

/** Told once, by the turn that had to go on without a stored state, or that leaves none. */
function noticesOf({ takeDamaged, takeLag }: TurnDeps, sessionId: string): string[] {
  const lag = takeLag?.(sessionId);
  return [
    ...((takeDamaged?.(sessionId) ?? 0) > 0 ? [DAMAGED] : []),
    ...(lag === undefined ? [] : [lagText(lag)]),
  ];
}

const lagText = (why: string): string =>
  `The state of this conversation could not be stored: ${why}. No answer is lost: the transcript makes up for it, and the state is stored with a later turn.`;

function withNotices(reply: TurnReply, told: readonly string[]): TurnReply {
  if (told.length === 0) return reply;
  const all = reply.notice === undefined ? told : [...told, reply.notice];
  return { ...reply, notice: [...new Set(all)].join("\n") };
}

async function runOn(deps: TurnDeps, threadId: string, turn: TurnUnderLease): Promise<GraphRunOutcome> {
  const { ref, message, lease, stop, collected, erased, onEvent } = turn;
  const { lockName, token } = lease;
  onEvent?.({ type: "session", sessionId: threadId });
  const leave = deps.stops.onSession(threadId, stop.signal);
  let outcome: GraphRunOutcome | undefined;
  try {
    outcome = await deps.runner.run({
      threadId,
      owner: ref.owner,
      sessionKey: ref.sessionKey,
      message,
      fence: {
        lockName,
        token,
        ...(collected === undefined ? {} : { collected }),
        ...(erased === undefined ? {} : { erased }),
      },
      signal: lease.lost,
      ...(onEvent === undefined ? {} : { onEvent }),
    });
    return outcome;
  } finally {
    leave();
    deps.afterTurn?.(threadId, hasSealed(outcome));
  }
}

/** Whether the session of the run is sealed now: its message went to another one, or there was none to answer. */
function hasSealed(outcome: GraphRunOutcome | undefined): boolean {
  return outcome?.kind === "handoff" || outcome?.reply.outcome === "rotated";
}
