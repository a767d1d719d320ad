/** Stops the turn that runs on a key, in this process or another, and bounds the wait for it to end. */
import { LilyError } from "#src/kernel/errors.ts";
import type { KeyRef } from "#src/sessions/repository.ts";
import { DEFAULT_ARRIVALS, resolveArrivals, type ArrivalPolicy } from "./arrival-policy.ts";
import { lockName } from "./lock-name.ts";
import type { LeasedTurn, StopRequests } from "./stop-requests.ts";
import { systemTimer } from "./timer.ts";
import type { TurnDeps } from "./turn-deps.ts";

/** The parts of {@link TurnDeps} that stopping needs. */
export type StopDeps = Pick<TurnDeps, "stops" | "locks" | "stopRequests" | "timer" | "arrivals">;

/** What became of a request to stop. */
export type StopOutcome =
  /** Nothing runs on the key. */
  | { readonly kind: "nothing" }
  /** What runs answers the delivery in whose name it was asked. */
  | { readonly kind: "own" }
  | StopAsked;

/** A turn that was asked to stop. */
export interface StopAsked {
  readonly kind: "asked";
  /** In this process it stops at once, in another one when it looks next. */
  readonly where: "here" | "elsewhere";
  readonly turn: LeasedTurn;
  readonly by: string;
}

/** Whether a turn runs on the key, in this process or another. */
export async function isRunning(deps: StopDeps, ref: KeyRef): Promise<boolean> {
  const name = lockName(ref);
  if (deps.stops.runningOn(name) !== undefined) return true;
  return deps.stopRequests !== undefined && (await deps.locks.holder(name)) !== undefined;
}

/** Stops what runs on the key, unless it answers `by`, the delivery that asks. Does not wait for it to end. */
export async function requestStop(deps: StopDeps, ref: KeyRef, by: string): Promise<StopOutcome> {
  const { owner, sessionKey } = ref;
  const name = lockName(ref);
  const running = deps.stops.runningOn(name);
  if (running !== undefined) {
    if (running.deliveryIds.includes(by)) return { kind: "own" };
    running.stop.abort(new Error("stopped by the user"));
    return { kind: "asked", where: "here", turn: { owner, sessionKey, token: running.token }, by };
  }
  return deps.stopRequests === undefined
    ? { kind: "nothing" }
    : askElsewhere(deps, deps.stopRequests, { owner, sessionKey, by });
}

async function askElsewhere(
  deps: StopDeps,
  requests: StopRequests,
  { owner, sessionKey, by }: KeyRef & { readonly by: string },
): Promise<StopOutcome> {
  const name = lockName({ owner, sessionKey });
  const holder = await deps.locks.holder(name);
  if (holder === undefined) return { kind: "nothing" };
  const turn = { owner, sessionKey, token: holder.token };
  await requests.ask(turn, by);
  if ((await deps.locks.holder(name))?.token === holder.token)
    return { kind: "asked", where: "elsewhere", turn, by };
  // It ended in between, so nobody reads the request.
  await requests.remove(turn, by);
  return { kind: "nothing" };
}

/**
 * Calls `giveUp` when the turn still runs after the time that the configuration gives it to end. One in another process
 * that declined, because it answers the same delivery, may take as long as it needs.
 *
 * @returns what ends the watch and takes the request back; it never rejects, idempotent
 */
export function boundWait(
  deps: StopDeps,
  asked: StopAsked,
  giveUp: (reason: LilyError) => void,
): () => Promise<void> {
  const { stopWaitMs } = arrivalPolicyOf(deps, asked.turn);
  const timer = deps.timer ?? systemTimer;
  let hasEnded = false;
  const check = async (): Promise<void> => {
    const stillRuns = await isStillRunning(deps, asked);
    if (stillRuns && !hasEnded) giveUp(neverEnded(stopWaitMs));
  };
  // The wait for the lock has an end of its own, for when the storage does not answer here.
  const cancel = timer.after(stopWaitMs, () => void check().catch(() => undefined));
  return async () => {
    cancel();
    if (hasEnded) return;
    hasEnded = true;
    await takeBack(deps, asked);
  };
}

/** The arrival rule of a key. */
export function arrivalPolicyOf(
  { arrivals }: Pick<TurnDeps, "arrivals">,
  { sessionKey }: KeyRef,
): ArrivalPolicy {
  return resolveArrivals(arrivals?.sources ?? DEFAULT_ARRIVALS, sessionKey);
}

async function isStillRunning(deps: StopDeps, { turn, where, by }: StopAsked): Promise<boolean> {
  const holder = await deps.locks.holder(lockName(turn));
  if (holder?.token !== turn.token) return false;
  return where === "here" || (await deps.stopRequests?.isPending(turn, by)) === true;
}

async function takeBack(deps: StopDeps, { turn, where, by }: StopAsked): Promise<void> {
  // A row that could not be removed reaches no other turn, and goes when one of this key looks for its own.
  if (where === "elsewhere") await deps.stopRequests?.remove(turn, by).catch(() => undefined);
}

function neverEnded(stopWaitMs: number): LilyError {
  return new LilyError(
    "lease_timeout",
    `the turn that runs was stopped and had not ended after ${stopWaitMs} ms`,
    { next: "Send the message again in a while; it was not stored." },
  );
}
