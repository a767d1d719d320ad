/**
 * How a turn that runs is stopped without losing its answer: in this process by its signal, in another one by an item in
 * the Store, at which every turn looks while it runs.
 */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import { done, type Envelope } from "#src/kernel/envelope.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { encodeLabel } from "#src/kernel/ids.ts";
import type { KeyRef } from "#src/sessions/repository.ts";
import type { KeyLock } from "#src/storage/backend.ts";
import { lockName } from "#src/sessions/session-key.ts";

/** How often a turn looks. A person who stops an answer waits for it at most this long. */
const LOOK_EVERY_MS = 250;

/** A turn that runs in this process. */
export interface RunningTurn {
  /** What it answers; more than one where messages were collected. */
  readonly deliveryIds: readonly string[];
  /** Fencing token of its lease. */
  readonly token: number;
  readonly stop: AbortController;
  /** On which it runs now. */
  sessionId: string;
}

/** The turns that run in this process. */
export class StopRegistry {
  /** By lock name. */
  readonly #running = new Map<string, RunningTurn>();

  /** The signal of the turn that runs on a session. */
  signalFor(sessionId: string): AbortSignal | undefined {
    return [...this.#running.values()].find((turn) => turn.sessionId === sessionId)?.stop.signal;
  }

  /** The turn that runs on a key. */
  runningOn(name: string): RunningTurn | undefined {
    return this.#running.get(name);
  }

  /** Says that a turn runs on a key, until the returned function is called. */
  enter(name: string, turn: RunningTurn): () => void {
    this.#running.set(name, turn);
    return () => {
      if (this.#running.get(name) === turn) this.#running.delete(name);
    };
  }
}

/** What stopping needs. */
export interface StopDeps {
  readonly stops: StopRegistry;
  readonly locks: Pick<KeyLock, "holder">;
  /** Where other processes look for requests. */
  readonly store: BaseStore;
}

/** What became of a request to stop. */
export type StopOutcome =
  /** Nothing runs on the key. */
  | { readonly kind: "nothing" }
  /** What runs answers the delivery in whose name it was asked. */
  | { readonly kind: "own" }
  | StopAsked;

/** A turn that was asked to stop: in this process it stops at once, in another one when it looks next. */
export interface StopAsked {
  readonly kind: "asked";
  readonly where: "here" | "elsewhere";
  readonly ref: KeyRef;
  /** Fencing token of the turn's lease: a later turn on the key has another. */
  readonly token: number;
}

/** Stops what runs on the key, unless it answers `by`, the delivery that asks. Does not wait for it to end. */
export async function requestStop(deps: StopDeps, ref: KeyRef, by: string): Promise<StopOutcome> {
  const name = lockName(ref);
  const running = deps.stops.runningOn(name);
  if (running !== undefined) {
    if (running.deliveryIds.includes(by)) return { kind: "own" };
    running.stop.abort(new Error("stopped by the user"));
    return { kind: "asked", where: "here", ref, token: running.token };
  }
  const holder = await deps.locks.holder(name);
  if (holder === undefined) return { kind: "nothing" };
  await deps.store.put(namespaceOf(ref), REQUEST, { token: holder.token, by }, false);
  return { kind: "asked", where: "elsewhere", ref, token: holder.token };
}

/** Looks whether another process asks the turn to stop, until the returned function is called. It never rejects. */
export function obeyRequests({ store }: StopDeps, ref: KeyRef, turn: RunningTurn): () => Promise<void> {
  let look = Promise.resolve();
  let hasLooked = false;
  const timer = setInterval(() => {
    hasLooked = true;
    if (turn.stop.signal.aborted) return;
    // What is asked while the store does not answer is seen at the next look.
    look = look.then(() => lookOnce(store, ref, turn)).catch(() => undefined);
  }, LOOK_EVERY_MS);
  timer.unref();
  return async () => {
    clearInterval(timer);
    await look;
    // What asked a turn that was too short to look reaches no later one.
    if (hasLooked) await dropRequest(store, ref, turn.token).catch(() => undefined);
  };
}

async function lookOnce(store: BaseStore, ref: KeyRef, turn: RunningTurn): Promise<void> {
  const request = await readRequest(store, ref);
  if (request?.token !== turn.token) return;
  await store.delete(namespaceOf(ref), REQUEST);
  // One that repeats a delivery of the turn waits for its answer instead.
  if (!turn.deliveryIds.includes(request.by)) turn.stop.abort(new Error("stopped by the user"));
}

/**
 * Calls `giveUp` with the reason when a turn that was asked to stop has not ended within `waitMs`. One in another process
 * that declined, because it answers the same delivery, may take as long as it needs.
 */
export function boundWait(
  deps: StopDeps,
  { asked, waitMs }: { readonly asked: StopAsked; readonly waitMs: number },
  giveUp: (reason: LilyError) => void,
): void {
  const { ref, token, where } = asked;
  const check = async (): Promise<void> => {
    if ((await deps.locks.holder(lockName(ref)))?.token !== token) return;
    if (where === "here" || (await dropRequest(deps.store, ref, token))) giveUp(neverEnded(waitMs));
  };
  // The wait for the lock has an end of its own, for when the storage does not answer here.
  setTimeout(() => void check().catch(() => undefined), waitMs).unref();
}

function neverEnded(waitMs: number): LilyError {
  return new LilyError(
    "lease_timeout",
    `the turn that runs was stopped and had not ended after ${waitMs} ms`,
    {
      next: "Send the message again in a while; it was not stored.",
    },
  );
}

const REQUEST = "stop";
const requestSchema = z.object({ token: z.int(), by: z.string() });

async function readRequest(store: BaseStore, ref: KeyRef) {
  const item = await store.get(namespaceOf(ref), REQUEST);
  return requestSchema.safeParse(item?.value).data;
}

/** Takes a request to a turn back. `false` when there is none any more. */
async function dropRequest(store: BaseStore, ref: KeyRef, token: number): Promise<boolean> {
  if ((await readRequest(store, ref))?.token !== token) return false;
  await store.delete(namespaceOf(ref), REQUEST);
  return true;
}

const namespaceOf = ({ owner, sessionKey }: KeyRef): string[] => [
  "stop-requests",
  encodeLabel(owner),
  encodeLabel(sessionKey),
];

/** What `/stop` answers. */
export function stopEnvelope(outcome: StopOutcome): Envelope {
  if (outcome.kind !== "asked")
    return done("nothing_running", "Nothing is being answered right now.", { data: { stopped: false } });
  if (outcome.where === "here")
    return done("answer_stopped", "Stopped. What there is of the answer is kept.", {
      data: { stopped: true },
    });
  return done(
    "answer_stopped",
    "The answer is being written by another program, which stops within a second. What there is of it is kept.",
    { data: { stopped: true, elsewhere: true } },
  );
}
