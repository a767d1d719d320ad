/** Gathers messages that arrive together, or while a turn runs, into one turn; every caller gets its reply. */
import { LilyError } from "#src/kernel/errors.ts";
import { gathers, type ArrivalPolicy } from "./arrival-policy.ts";
import { Burst, createMember, Place, type Bursts, type Member } from "./burst.ts";
import { flush } from "./flush.ts";
import { lockName } from "./lock-name.ts";
import { arrivalPolicyOf, boundWait, requestStop } from "./request-stop.ts";
import { deliveryConflict, findStoredReply } from "./stored-reply.ts";
import { systemTimer } from "./timer.ts";
import type { TurnDeps } from "./turn-deps.ts";
import type { TurnReply } from "./turn-reply.ts";
import type { TurnRequest } from "./turn-request.ts";
import { failedReply, stoppedWhileWaiting } from "./under-lock.ts";

/** A text on its way into a burst. */
export interface Gathered {
  readonly deliveryId: string;
  readonly text: string;
  readonly policy: ArrivalPolicy;
  readonly bursts: Bursts;
}

/**
 * Takes a text to its reply, perhaps together with others.
 *
 * @throws {LilyError} `delivery_conflict`; then nothing was stored
 */
export function gather(deps: TurnDeps, request: TurnRequest, gathered: Gathered): Promise<TurnReply> {
  const { deliveryId, text, policy } = gathered;
  const member = createMember(deliveryId, text, request);
  const { burst, reply } = join(deps, member, gathered);
  if (policy.mode === "interrupt") void interrupt(deps, burst, member);
  return reply;
}

/** Stops the turn that runs, and bounds the wait for its end. What cannot be stopped is waited for. Never rejects. */
async function interrupt(deps: TurnDeps, burst: Burst, member: Member): Promise<void> {
  const { request, deliveryId } = member;
  try {
    // One that was answered before is no reason to stop anything.
    if ((await findStoredReply(deps.repository, request, member)) !== undefined) return;
    const outcome = await requestStop(deps, request, deliveryId);
    if (outcome.kind !== "asked") return;
    const endWatch = boundWait(deps, outcome, (why) => burst.giveUp.abort(why));
    void burst.settled.passed.then(endWatch);
  } catch {
    // The message stands in line already; what is wrong with it or with the storage its own turn tells.
  }
}

/**
 * Takes the next place on a key where messages are gathered, for one that is never joined: what came before it stays
 * before it, and what comes later begins another burst.
 */
export function takePlace(deps: TurnDeps, request: TurnRequest): TakenPlace {
  if (deps.arrivals === undefined || !gathers(arrivalPolicyOf(deps, request))) return FREE;
  const { bursts } = deps.arrivals;
  const name = lockName(request);
  bursts.openOn(name)?.close();
  const place = new Place();
  const before = bursts.append(name, place);
  const settle = async (): Promise<void> => {
    // A burst before it that has to ask for the lock once more stays before those after it.
    await before?.settled.passed;
    place.settled.open();
    bursts.forget(name, place);
  };
  return {
    ready: async () => {
      if (before !== undefined) await Promise.race([before.inLine.passed, aborted(request.stop)]);
    },
    leave() {
      place.inLine.open();
      void settle();
    },
  };
}

/** A place of a message that is never joined. */
export interface TakenPlace {
  /** Resolves when what came before stands in line, or the caller does not wait any more. */
  ready(): Promise<void>;
  /** Says that the message stands in line itself, or never will. Idempotent. */
  leave(): void;
}

/** Where nothing is gathered the lock alone keeps the order. */
const FREE: TakenPlace = { ready: async () => undefined, leave: () => undefined };

interface Joined {
  readonly burst: Burst;
  readonly reply: Promise<TurnReply>;
}

function join(deps: TurnDeps, member: Member, { policy, bursts }: Gathered): Joined {
  const { request } = member;
  const name = lockName(request);
  const open = bursts.openOn(name);
  const twin = open?.find(member.deliveryId);
  if (open !== undefined && twin !== undefined) return { burst: open, reply: replyOfTwin(twin, member) };
  const hasRoom = open?.hasRoomFor(member.text, deps.messageCharacters) === true;
  // What does not fit waits for the next turn.
  if (!hasRoom) open?.close();
  const burst = open !== undefined && hasRoom ? open : begin(deps, request, { policy, bursts });
  burst.add(member);
  const forget = heedStop(burst, member);
  return { burst, reply: member.reply.finally(forget) };
}

function begin(
  deps: TurnDeps,
  { owner, sessionKey }: TurnRequest,
  { policy, bursts }: Pick<Gathered, "policy" | "bursts">,
): Burst {
  const name = lockName({ owner, sessionKey });
  const burst = new Burst(policy, deps.timer ?? systemTimer);
  const before = bursts.append(name, burst);
  void flush(deps, { burst, before, ref: { owner, sessionKey }, mode: policy.mode }).finally(() =>
    bursts.forget(name, burst),
  );
  return burst;
}

/** The same delivery again, while the first is still being gathered. */
async function replyOfTwin(first: Member, again: Member): Promise<TurnReply> {
  if (first.textHash !== again.textHash) throw deliveryConflict(again.deliveryId);
  again.request.onEvent?.({ type: "waiting" });
  const reply = await first.reply;
  return reply.turn === null ? reply : { ...reply, repeated: true };
}

/** A caller's stop takes its message out of what waits, or stops the turn that answers it. */
function heedStop(burst: Burst, member: Member): () => void {
  const { stop: signal } = member.request;
  const heed = (): void => {
    if (burst.running !== undefined) return burst.running.abort(signal?.reason);
    burst.remove(member);
    member.answer(failedReply(stoppedWhileWaiting(signal?.reason), member.deliveryId));
    if (burst.members.length > 0) return;
    burst.close();
    burst.giveUp.abort(new LilyError("turn_stopped", "everyone who waited has left"));
  };
  if (signal?.aborted === true) heed();
  else signal?.addEventListener("abort", heed, { once: true });
  return () => signal?.removeEventListener("abort", heed);
}

/** Never resolves without a signal. */
function aborted(signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) resolve();
    signal?.addEventListener("abort", () => resolve(), { once: true });
  });
}
