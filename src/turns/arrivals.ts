/** Messages on their way to a turn: each for itself, or those that arrive together, or while a turn runs on their key, as one. */
import { z } from "zod";
import { LilyError } from "#src/kernel/errors.ts";
import { sleepByTimer } from "#src/models/retry-model.ts";
import type { KeyRef } from "#src/sessions/repository.ts";
import { textHashOf } from "#src/sessions/seal.ts";
import { lockName } from "#src/sessions/session-key.ts";
import type { Lease } from "#src/storage/backend.ts";
import { boundWait, requestStop, type StopOutcome } from "./stop.ts";
import { failedReply, stoppedWhileWaiting, takeTurn, withKey } from "./take-turn.ts";
import type { TurnDeps, TurnRequest } from "./turn-deps.ts";
import { findStoredReply, type DeliveredText, type TurnReply } from "./turn-reply.ts";

const parts = {
  /**
   * `queue`: it waits for its own turn. `collect`: all that arrive meanwhile become one turn. `interrupt`: it stops the
   * turn that runs, and what arrives until that has ended becomes one turn.
   */
  mode: z.enum(["queue", "collect", "interrupt"]),
  /** Quiet time in milliseconds after which a burst of messages becomes one turn; 0: none is waited for. */
  debounceMs: z.int().min(0).max(60_000),
  /** Longest time in milliseconds that the first message of a burst waits for quiet. */
  maxWaitMs: z.int().min(0).max(600_000),
  /** Longest wait in milliseconds for a turn that was stopped to end. */
  stopWaitMs: z.int().min(100).max(600_000),
};

/** Parts of a policy that replace the same parts of a more general one. */
export const arrivalOverridesSchema = z.strictObject(parts).partial();

/** The rule for messages that arrive during a turn, with its defaults: each waits for its own turn. */
export const arrivalPolicySchema = z.strictObject({
  mode: parts.mode.default("queue"),
  debounceMs: parts.debounceMs.default(0),
  maxWaitMs: parts.maxWaitMs.default(10_000),
  stopWaitMs: parts.stopWaitMs.default(10_000),
});

export type ArrivalPolicy = z.infer<typeof arrivalPolicySchema>;

/** A message that was checked. */
export interface Arrival extends TurnRequest {
  readonly deliveryId: string;
  readonly text: string;
  /** It is text alone, which may be answered together with others. */
  readonly isText: boolean;
  /** Of a message that ends the turn that runs, whatever the policy: whether it will. */
  readonly endsRunning?: () => Promise<boolean>;
}

/** A message that waits, with the caller who waits for its reply. */
interface Member extends Arrival {
  readonly textHash: string;
  readonly answer: (reply: TurnReply) => void;
}

/** Messages that become one turn: more may join until its turn begins, or something comes that may not overtake them. */
class Batch {
  readonly ref: KeyRef;
  readonly policy: ArrivalPolicy;
  /** Others may be answered with it. */
  readonly mayGrow: boolean;
  members: Member[];
  /** Ends its wait for the key, or stops its turn. */
  readonly stop = new AbortController();
  /** `waiting`: another turn runs on the key. */
  state: "gathering" | "waiting" | "running" = "gathering";
  /** Begins the quiet time anew. */
  onText = (): void => undefined;
  /** No more messages need be waited for. */
  endQuiet = (): void => undefined;

  constructor({ owner, sessionKey, isText }: Member, policy: ArrivalPolicy) {
    this.ref = { owner, sessionKey };
    this.policy = policy;
    this.mayGrow = isText && (policy.mode !== "queue" || policy.debounceMs > 0);
    this.members = [];
  }
}

/** How often texts are tried before their callers are told that the storage is busy; each wait is twice the one before. */
const TRIES = 4;
const FIRST_RETRY_MS = 250;

/** The messages of this process that wait. Their order is that in which they ask for the lock of their key: as they arrive. */
export class Arrivals {
  readonly #policyOf: (sessionKey: string) => ArrivalPolicy;
  /** By lock name: the batch that takes more texts. */
  readonly #open = new Map<string, Batch>();

  constructor(policyOf = (_sessionKey: string): ArrivalPolicy => arrivalPolicySchema.parse({})) {
    this.#policyOf = policyOf;
  }

  /** Takes a message to its reply, perhaps together with others. Never rejects. */
  take(deps: TurnDeps, message: Arrival): Promise<TurnReply> {
    const { deliveryId, stop } = message;
    return new Promise((resolve) => {
      const answer = (reply: TurnReply): void => {
        stop?.removeEventListener("abort", leave);
        resolve({ ...reply, deliveryId });
      };
      const member = { ...message, textHash: textHashOf(message.text), answer };
      const batch = this.#batchFor(deps, member);
      const leave = (): void => this.#leave(batch, member);
      if (stop?.aborted === true) leave();
      else stop?.addEventListener("abort", leave);
    });
  }

  /** Takes back the texts that wait for quiet; where there are none, stops what runs on the key in the name of `by`. */
  async stop(deps: TurnDeps, ref: KeyRef, by: string): Promise<StopOutcome> {
    const batch = this.#open.get(lockName(ref));
    if (batch === undefined || batch.state === "waiting") return requestStop(deps, ref, by);
    const error = new LilyError("turn_stopped", "stopped before it was answered", {
      next: "The message was not stored; send it again when you want.",
    });
    for (const member of batch.members) settle(batch, member, failedReply(error));
    this.#close(batch);
    return { kind: "asked", where: "here", ref, token: 0 };
  }

  #batchFor(deps: TurnDeps, member: Member): Batch {
    const own = new Batch(member, this.#policyOf(member.sessionKey));
    const name = lockName(own.ref);
    const open = this.#open.get(name);
    const fits = open !== undefined && joined([...open.members, member]).length <= deps.messageCharacters;
    const batch = own.mayGrow && fits ? open : own;
    batch.members.push(member);
    batch.onText();
    if (batch === open) {
      if (open.state === "waiting") void waitBehind(deps, open, member);
      return open;
    }
    if (open !== undefined) this.#close(open);
    if (own.mayGrow) this.#open.set(name, own);
    void this.#answer(deps, own);
    return own;
  }

  async #answer(deps: TurnDeps, batch: Batch): Promise<void> {
    const { ref, policy, stop } = batch;
    const quiet = batch.mayGrow ? quietOf(batch) : Promise.resolve();
    if (policy.mode === "queue") void quiet.then(() => this.#close(batch));
    const onWait = (): void => {
      batch.state = "waiting";
      for (const member of batch.members) void waitBehind(deps, batch, member);
    };
    const reply = await withKey(deps, { ref, signal: stop.signal, onWait }, async (lease) => {
      batch.state = "gathering";
      await quiet;
      this.#close(batch);
      batch.state = "running";
      return answerMembers(deps, batch, lease);
    });
    this.#close(batch);
    for (const member of batch.members) settle(batch, member, reply);
  }

  /** No more texts join it. */
  #close(batch: Batch): void {
    batch.endQuiet();
    const name = lockName(batch.ref);
    if (this.#open.get(name) === batch) this.#open.delete(name);
    if (batch.members.length === 0) batch.stop.abort();
  }

  /** A caller's stop takes its message out of what waits, or stops the turn that answers it. */
  #leave(batch: Batch, member: Member): void {
    const reason: unknown = member.stop?.reason;
    if (batch.state === "running") return batch.stop.abort(reason);
    settle(batch, member, failedReply(stoppedWhileWaiting(reason)));
    if (batch.members.length === 0) this.#close(batch);
  }
}

/** Resolves after the quiet time, counted from the last text, or the longest wait, counted from the first. */
function quietOf(batch: Batch): Promise<void> {
  const { debounceMs, maxWaitMs } = batch.policy;
  if (debounceMs === 0) return Promise.resolve();
  return new Promise((resolve) => {
    batch.endQuiet = () => {
      clearTimeout(longest);
      clearTimeout(quiet);
      batch.onText = () => undefined;
      resolve();
    };
    const longest = setTimeout(batch.endQuiet, maxWaitMs);
    let quiet = setTimeout(batch.endQuiet, debounceMs);
    batch.onText = () => {
      clearTimeout(quiet);
      quiet = setTimeout(batch.endQuiet, debounceMs);
    };
  });
}

/** Another turn runs on the key: the caller is told, and where the message asks for it, that turn is stopped. */
async function waitBehind(deps: TurnDeps, batch: Batch, member: Member): Promise<void> {
  const { ref, policy, mayGrow } = batch;
  member.onEvent?.({ type: "waiting" });
  try {
    const ends = await (member.endsRunning?.() ?? (mayGrow && policy.mode === "interrupt"));
    // One that was answered before is no reason to stop anything.
    if (!ends || (await findStoredReply(deps.repository, ref, member)) !== undefined) return;
    const asked = batch.state === "waiting" ? await requestStop(deps, ref, member.deliveryId) : undefined;
    if (asked?.kind !== "asked") return;
    boundWait(deps, { asked, waitMs: policy.stopWaitMs }, (why) => {
      if (batch.state === "waiting") batch.stop.abort(why);
    });
  } catch {
    // What is wrong, the message's own turn tells.
  }
}

/** Answers the members; more than one turn is needed only when some of them were part of one that a crash cut off. */
async function answerMembers(deps: TurnDeps, batch: Batch, lease: Lease): Promise<TurnReply> {
  const { ref, mayGrow, stop } = batch;
  let reply: TurnReply | undefined;
  for (let tries = 1; tries <= TRIES; tries += 1) {
    if (mayGrow) await settleStored(deps, batch);
    // A delivery that came twice is answered once.
    const asked = batch.members.filter(
      ({ deliveryId }, at, all) => all.findIndex((other) => other.deliveryId === deliveryId) === at,
    );
    const [first, ...others] = asked;
    if (first === undefined) break;
    const listeners = batch.members.flatMap(({ onEvent }) => onEvent ?? []);
    reply = await takeTurn(deps, {
      ref,
      lease,
      stop,
      message: { id: first.deliveryId, content: others.length === 0 ? first.content : joined(asked) },
      ...(others.length === 0 ? {} : { collected: { textHash: first.textHash, others: others.map(nameOf) } }),
      onEvent: listeners.length === 0 ? undefined : (event) => listeners.forEach((tell) => tell(event)),
    }).catch(failedReply);
    if (mayGrow && reply.turn !== null) await settleStored(deps, batch, asked, reply);
    else if (!mayGrow || reply.envelope.code !== "storage_busy") return reply;
    // Nothing was stored, and it may work in a moment.
    else if (tries < TRIES) await sleepByTimer(FIRST_RETRY_MS * 2 ** (tries - 1));
  }
  // All were stopped, before a turn began.
  return reply ?? failedReply(stoppedWhileWaiting(undefined));
}

const nameOf = ({ deliveryId, textHash }: Member): DeliveredText => ({ deliveryId, textHash });

const joined = (members: readonly Member[]): string => members.map(({ text }) => text).join("\n\n");

/** Gives those that were answered their replies, `asked` just now with `reply`; one whose id had another text is refused. */
async function settleStored(
  deps: TurnDeps,
  batch: Batch,
  asked: readonly Member[] = [],
  reply?: TurnReply,
): Promise<void> {
  for (const member of batch.members) {
    const stored = await findStoredReply(deps.repository, batch.ref, member).catch((error: unknown) => ({
      ...failedReply(error),
      outcome: "refused" as const,
    }));
    if (stored === undefined) continue;
    // What only the run itself tells is not stored.
    const told = reply?.turn === stored.turn ? reply : stored;
    settle(batch, member, asked.includes(member) ? { ...told, repeated: false } : stored);
  }
}

function settle(batch: Batch, member: Member, reply: TurnReply): void {
  batch.members = batch.members.filter((other) => other !== member);
  member.answer(reply);
}
