/** Messages that arrive together, or while a turn runs on their key, and become one turn. */
import { LilyError } from "#src/kernel/errors.ts";
import type { KeyRef } from "#src/sessions/repository.ts";
import { textHashOf } from "#src/sessions/seal.ts";
import type { Lease } from "#src/storage/backend.ts";
import {
  DEFAULT_ARRIVALS,
  gathers,
  resolveArrivals,
  type ArrivalPolicy,
  type ArrivalSources,
} from "./arrival-policy.ts";
import { lockName } from "#src/sessions/session-key.ts";
import type { TurnEvent } from "./runner.ts";
import { boundWait, requestStop } from "./stop.ts";
import { findStoredReply, type TurnReply } from "./turn-reply.ts";
import { failedReply, stoppedWhileWaiting, takeTurn, withKey } from "./take-turn.ts";
import type { TurnDeps, TurnRequest } from "./turn-deps.ts";

/** A text that may be answered together with others. */
type Text = TurnRequest & { readonly deliveryId: string; readonly text: string };

/** A text that waits, with the caller who waits for its reply. */
interface Member extends Text {
  readonly textHash: string;
  readonly answer: (reply: TurnReply) => void;
}

/** Texts that become one turn: more may join until their key is held, or something comes that may not overtake them. */
interface Batch {
  members: Member[];
  readonly ref: KeyRef;
  /** No more texts need be waited for. */
  readonly quiet: Gate;
  /** It has asked for the lock of its key, or never will. */
  readonly inLine: Gate;
  /** Ends its wait for the lock. */
  readonly giveUp: AbortController;
  /** Stops its turn, while one runs. */
  stop: AbortController | undefined;
  /** Called for each text that joins it. */
  onText: () => void;
  /** Another turn runs on its key. */
  isWaiting: boolean;
}

/** How often texts are tried before their callers are told that the storage is busy; each wait is twice the one before. */
const TRIES = 4;
const FIRST_RETRY_MS = 250;

/** Something that happens once and can be waited for. */
interface Gate {
  readonly passed: Promise<void>;
  readonly open: () => void;
}

function gate(): Gate {
  let open = (): void => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}

const joined = (members: readonly Member[]): string => members.map(({ text }) => text).join("\n\n");

/** The order of arrival in this process; where nothing is joined, the lock of the key keeps it. */
export class Arrivals {
  readonly #sources: ArrivalSources;
  /** By lock name: the batch that takes more texts. */
  readonly #open = new Map<string, Batch>();
  /** By lock name: the newest arrival, until it has asked for the lock. */
  readonly #newest = new Map<string, Promise<void>>();

  constructor(sources: ArrivalSources = DEFAULT_ARRIVALS) {
    this.#sources = sources;
  }

  /** The rule of a key. */
  policyOf(sessionKey: string): ArrivalPolicy {
    return resolveArrivals(this.#sources, sessionKey);
  }

  /** Whether a text on the key may become part of a turn with others. */
  joins(sessionKey: string): boolean {
    return gathers(this.policyOf(sessionKey));
  }

  /** Takes the place of a message that is never joined. Once `turn` resolves it may ask for the lock, and says so. */
  passBy(ref: KeyRef): { readonly turn: Promise<void>; readonly onInLine: () => void } {
    const name = lockName(ref);
    this.#close(name);
    const { passed, open } = gate();
    return { turn: this.#append(name, passed), onInLine: open };
  }

  /** Takes back the texts that wait for quiet. `false` when there are none. */
  takeBack(ref: KeyRef): boolean {
    const batch = this.#open.get(lockName(ref));
    if (batch === undefined || batch.isWaiting) return false;
    batch.giveUp.abort(
      new LilyError("turn_stopped", "stopped before it was answered", {
        next: "The message was not stored; send it again when you want.",
      }),
    );
    this.#close(lockName(ref));
    return true;
  }

  /** Takes a text to its reply, perhaps together with others. */
  join(deps: TurnDeps, message: Text): Promise<TurnReply> {
    const { deliveryId, stop } = message;
    return new Promise((resolve) => {
      const answer = (reply: TurnReply): void => {
        stop?.removeEventListener("abort", heed);
        resolve({ ...reply, deliveryId });
      };
      const member = { ...message, textHash: textHashOf(message.text), answer };
      const batch = this.#batchFor(deps, member);
      const heed = (): void => this.#stop(batch, member);
      stop?.addEventListener("abort", heed);
      if (batch.isWaiting) member.onEvent?.({ type: "waiting" });
      if (stop?.aborted === true) heed();
      else if (this.policyOf(message.sessionKey).mode === "interrupt")
        void this.#interrupt(deps, batch, member);
    });
  }

  /** Puts an arrival behind those of the key. Resolves when the one before it has asked for the lock. */
  #append(name: string, inLine: Promise<void>): Promise<void> {
    const before = this.#newest.get(name) ?? Promise.resolve();
    this.#newest.set(name, inLine);
    void inLine.then(() => this.#newest.get(name) === inLine && this.#newest.delete(name));
    return before;
  }

  #close(name: string): void {
    this.#open.get(name)?.quiet.open();
    this.#open.delete(name);
  }

  #batchFor(deps: TurnDeps, member: Member): Batch {
    const { owner, sessionKey } = member;
    const ref = { owner, sessionKey };
    const name = lockName(ref);
    const open = this.#open.get(name);
    if (open !== undefined && joined([...open.members, member]).length <= deps.messageCharacters) {
      open.members.push(member);
      open.onText();
      return open;
    }
    // What does not fit waits for the next turn.
    this.#close(name);
    const batch: Batch = {
      members: [member],
      ref,
      quiet: gate(),
      inLine: gate(),
      giveUp: new AbortController(),
      stop: undefined,
      onText: () => undefined,
      isWaiting: false,
    };
    const before = this.#append(name, batch.inLine.passed);
    this.#open.set(name, batch);
    void this.#answer(deps, batch, before);
    return batch;
  }

  async #answer(deps: TurnDeps, batch: Batch, before: Promise<void>): Promise<void> {
    const { ref, giveUp, inLine } = batch;
    const name = lockName(ref);
    const close = (): void => {
      if (this.#open.get(name) === batch) this.#close(name);
    };
    const policy = this.policyOf(ref.sessionKey);
    await quietOf(batch, policy);
    if (policy.mode === "queue") close();
    await before;
    const onWait = (): void => {
      batch.isWaiting = true;
      tellAll(batch, { type: "waiting" });
    };
    const waiting = { signal: giveUp.signal, onInLine: inLine.open, onWait };
    const reply = await withKey(deps, { ref, deliveryId: "", waiting }, (lease) => {
      close();
      return answerMembers(deps, batch, lease);
    });
    close();
    inLine.open();
    settleAll(batch, reply);
  }

  /** Stops the turn that runs, and bounds the wait for its end. Never rejects: the message's own turn tells what is wrong. */
  async #interrupt(deps: TurnDeps, { ref, giveUp, inLine }: Batch, member: Member): Promise<void> {
    try {
      // One that was answered before is no reason to stop anything.
      if ((await findStoredReply(deps.repository, ref, member)) !== undefined) return;
      const asked = await requestStop(deps, ref, member.deliveryId);
      if (asked.kind !== "asked") return;
      const waitMs = this.policyOf(ref.sessionKey).stopWaitMs;
      await inLine.passed;
      boundWait(deps, { asked, waitMs }, (why) => giveUp.abort(why));
    } catch {
      // It stands in line already.
    }
  }

  /** A caller's stop takes its text out of what waits, or stops the turn that answers it. */
  #stop(batch: Batch, member: Member): void {
    const reason: unknown = member.stop?.reason;
    if (batch.stop !== undefined) return batch.stop.abort(reason);
    settle(batch, member, failedReply(stoppedWhileWaiting(reason), member.deliveryId));
    if (batch.members.length > 0) return;
    if (this.#open.get(lockName(batch.ref)) === batch) this.#close(lockName(batch.ref));
    batch.giveUp.abort();
  }
}

/** Resolves after the quiet time, counted from the last text, or the longest wait, counted from the first. */
async function quietOf(batch: Batch, { debounceMs, maxWaitMs }: ArrivalPolicy): Promise<void> {
  if (debounceMs === 0) return;
  const longest = setTimeout(batch.quiet.open, maxWaitMs);
  let quiet = setTimeout(batch.quiet.open, debounceMs);
  batch.onText = () => {
    clearTimeout(quiet);
    quiet = setTimeout(batch.quiet.open, debounceMs);
  };
  await batch.quiet.passed;
  batch.onText = () => undefined;
  clearTimeout(longest);
  clearTimeout(quiet);
}

function tellAll(batch: Batch, event: TurnEvent): void {
  for (const { onEvent } of batch.members) onEvent?.(event);
}

/** Answers the members; more than one turn is needed only when some of them were part of one that a crash cut off. */
async function answerMembers(deps: TurnDeps, batch: Batch, lease: Lease): Promise<TurnReply> {
  let asked: readonly Member[] = [];
  for (let tries = 1; ;) {
    const before = batch.members.length;
    for (const member of batch.members) {
      const stored = await storedReply(deps, batch.ref, member);
      if (stored !== undefined)
        settle(batch, member, asked.includes(member) ? { ...stored, repeated: false } : stored);
    }
    const isStuck = asked.length > 0 && batch.members.length === before;
    if (isStuck || before === 0)
      return failedReply(new LilyError("internal", "the turn answered nobody"), "");
    if (batch.members.length === 0) continue;
    asked = batch.members.filter(isFirstOfItsId);
    const reply = await answerOnce(deps, { batch, lease, asked }).catch((error: unknown) =>
      failedReply(error, ""),
    );
    if (reply.turn !== null) continue;
    if (!isBusy(reply) || tries === TRIES) return reply;
    asked = [];
    await sleep(FIRST_RETRY_MS * 2 ** (tries - 1));
    tries += 1;
  }
}

/** A delivery that came twice is answered once. */
const isFirstOfItsId = ({ deliveryId }: Member, index: number, all: readonly Member[]): boolean =>
  all.findIndex((other) => other.deliveryId === deliveryId) === index;

async function answerOnce(
  deps: TurnDeps,
  {
    batch,
    lease,
    asked,
  }: { readonly batch: Batch; readonly lease: Lease; readonly asked: readonly Member[] },
): Promise<TurnReply> {
  const [first, ...others] = asked;
  batch.stop = new AbortController();
  const collected = {
    textHash: first?.textHash ?? "",
    others: others.map(({ deliveryId, textHash }) => ({ deliveryId, textHash })),
  };
  return takeTurn(deps, {
    ref: batch.ref,
    lease,
    stop: batch.stop,
    message: { id: first?.deliveryId ?? "", content: joined(asked) },
    ...(others.length === 0 ? {} : { collected }),
    onEvent: (event) => tellAll(batch, event),
  });
}

/** Nothing was stored, and it may work in a moment. */
const isBusy = ({ turn, envelope }: TurnReply): boolean => turn === null && envelope.code === "storage_busy";

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** The reply to one that was handled before; one whose id had another text is refused. */
async function storedReply(deps: TurnDeps, ref: KeyRef, member: Member): Promise<TurnReply | undefined> {
  try {
    return await findStoredReply(deps.repository, ref, member);
  } catch (error) {
    return { ...failedReply(error, member.deliveryId), outcome: "refused" };
  }
}

function settle(batch: Batch, member: Member, reply: TurnReply): void {
  batch.members = batch.members.filter((other) => other !== member);
  member.answer(reply);
}

function settleAll(batch: Batch, reply: TurnReply): void {
  for (const member of batch.members) settle(batch, member, reply);
}
