/** Messages that become one turn: who is in it, until when more may come, and in which order bursts of a key go. */
import { textHashOf } from "#src/sessions/seal.ts";
import type { ArrivalPolicy } from "./arrival-policy.ts";
import type { Timer } from "./timer.ts";
import type { TurnRequest } from "./turn-request.ts";
import type { TurnReply } from "./turn-reply.ts";

/** Between the texts of a burst. */
const BETWEEN = "\n\n";

/** A message of a burst, with the caller who waits for its reply. */
export interface Member {
  readonly deliveryId: string;
  readonly text: string;
  readonly textHash: string;
  readonly request: TurnRequest;
  readonly reply: Promise<TurnReply>;
  /** Gives the caller the reply, under the member's own id. The first call counts. */
  answer(reply: TurnReply): void;
}

/** Makes a member. */
export function createMember(deliveryId: string, text: string, request: TurnRequest): Member {
  let answer: (reply: TurnReply) => void = () => undefined;
  const reply = new Promise<TurnReply>((resolve) => (answer = resolve));
  const textHash = textHashOf(text);
  return {
    deliveryId,
    text,
    textHash,
    request,
    reply,
    answer: (given) => answer(given.deliveryId === deliveryId ? given : { ...given, deliveryId }),
  };
}

/** The texts of members as one message. */
export function joinTexts(members: readonly Member[]): string {
  return members.map(({ text }) => text).join(BETWEEN);
}

/** Something that happens once and can be waited for. */
export interface Gate {
  readonly passed: Promise<void>;
  open(): void;
}

function createGate(): Gate {
  let open: () => void = () => undefined;
  const passed = new Promise<void>((resolve) => (open = resolve));
  return { passed, open };
}

/** A place in the order of arrival on a key: that of a burst, or of a message which is never joined to others. */
export class Place {
  /** It has asked for the lock of its key. */
  readonly inLine = createGate();
  /** No burst that came after it can overtake it any more. */
  readonly settled = createGate();
}

/** A burst: it is open until it is taken, or until something that has to come after it arrives. */
export class Burst extends Place {
  /** Those who have no reply yet, in the order in which they came. */
  members: readonly Member[] = [];
  isOpen = true;
  /** Somebody else runs on the key. */
  isWaiting = false;
  /** No more messages need be waited for. */
  readonly quiet = createGate();
  /** Ends the wait for the lock. */
  readonly giveUp = new AbortController();
  /** Stops its turn, while one runs. */
  running: AbortController | undefined;
  readonly #policy: ArrivalPolicy;
  readonly #timer: Timer;
  #cancelQuiet = (): void => undefined;
  #cancelLongest: (() => void) | undefined;
  #isQuiet = false;
  readonly #replies: (() => void)[] = [];

  constructor(policy: ArrivalPolicy, timer: Timer) {
    super();
    this.#policy = policy;
    this.#timer = timer;
  }

  /** Whether the text can be joined within `limit` characters. */
  hasRoomFor(text: string, limit: number): boolean {
    return joinTexts(this.members).length + BETWEEN.length + text.length <= limit;
  }

  find(deliveryId: string): Member | undefined {
    return this.members.find((member) => member.deliveryId === deliveryId);
  }

  add(member: Member): void {
    this.members = [...this.members, member];
    if (this.isWaiting) member.request.onEvent?.({ type: "waiting" });
    this.#waitForQuiet();
  }

  remove(member: Member): void {
    this.members = this.members.filter((other) => other !== member);
  }

  /** Has a reply for a member, who is given it by {@link deliver}. */
  answer(member: Member, reply: TurnReply): void {
    this.remove(member);
    this.#replies.push(() => member.answer(reply));
  }

  /** Gives out the replies. */
  deliver(): void {
    for (const give of this.#replies.splice(0)) give();
  }

  /** Takes no more messages; it need not wait for any. */
  close(): void {
    this.isOpen = false;
    this.#endQuiet();
  }

  /** Tells all who listen. */
  tell(event: Parameters<NonNullable<TurnRequest["onEvent"]>>[0]): void {
    for (const { request } of this.members) request.onEvent?.(event);
  }

  #waitForQuiet(): void {
    const { debounceMs, maxWaitMs } = this.#policy;
    if (this.#isQuiet) return;
    if (debounceMs === 0) return this.#endQuiet();
    this.#cancelQuiet();
    this.#cancelQuiet = this.#timer.after(debounceMs, () => this.#endQuiet());
    this.#cancelLongest ??= this.#timer.after(maxWaitMs, () => this.#endQuiet());
  }

  #endQuiet(): void {
    this.#isQuiet = true;
    this.#cancelQuiet();
    this.#cancelLongest?.();
    this.quiet.open();
  }
}

/** The order of arrival in a process, by the lock of the key. */
export interface Bursts {
  /** The burst that takes more messages: the newest place, if it is one. */
  openOn(lockName: string): Burst | undefined;
  /** Puts a place behind those of the key. @returns the one before it, `undefined` when there is none */
  append(lockName: string, place: Place): Place | undefined;
  /** Forgets one that is over. */
  forget(lockName: string, place: Place): void;
}

/** Makes an empty order. */
export function createBursts(): Bursts {
  const newest = new Map<string, Place>();
  return {
    openOn(lockName) {
      const place = newest.get(lockName);
      return place instanceof Burst && place.isOpen ? place : undefined;
    },
    append(lockName, place) {
      const before = newest.get(lockName);
      newest.set(lockName, place);
      return before;
    },
    forget(lockName, place) {
      if (newest.get(lockName) === place) newest.delete(lockName);
    },
  };
}
