/**
 * Erases a text, a conversation or a person from every place, and answers with a receipt. Done again, it finishes what a crash or
 * a turn that ran has left.
 */
import { markForgotten } from "#memory/facts/forget.ts";
import { toInstant } from "#src/kernel/clock.ts";
import { isLilyError, LilyError } from "#src/kernel/errors.ts";
import { encodeLabel } from "#src/kernel/ids.ts";
import type { KeyRef } from "#src/sessions/repository.ts";
import { lockName, parseOwner } from "#src/sessions/session-key.ts";
import type { Lease, LeaseRef } from "#src/storage/backend.ts";
import {
  countOf,
  eraseIn,
  findIn,
  type Erasure,
  type ErasureDeps,
  type Found,
  type FoundIn,
  type Place,
  type Search,
} from "./place.ts";
import { factDepsOn, memoryOfKey } from "./belongings.ts";
import { PLACES } from "./places.ts";
import {
  erased,
  line,
  outsideLines,
  makeReceipt,
  scrubLine,
  type Receipt,
  type ReceiptLine,
} from "./receipt.ts";
import { askedBy, saysOf, saysPartOf } from "./says.ts";

/** What is to be erased: a text of a person; or a conversation, or all of the person, with everything in it. */
export interface Target {
  readonly owner: string;
  /** The fact, or words that stand for one. */
  readonly text?: string;
  /** The words with which it was asked for, which need not be its own. */
  readonly asked?: string | undefined;
  /** One conversation; not beside a text. */
  readonly sessionKey?: string | undefined;
  /** The key of the owner on which the erasure was asked for, whose lock is held. */
  readonly held?: { readonly ref: KeyRef; readonly lease: LeaseRef };
}

/** What is looked for: the fact, and commands that asked for it in words of their own; or everything. */
export function searchFor(
  deps: ErasureDeps,
  { owner, text, asked, sessionKey }: Target,
): Omit<Search, "found"> {
  parseOwner(owner);
  if (text === undefined) return { deps, owner, sessionKey, says: () => true, isWhole: true };
  const rules = [saysOf(text), ...(asked === undefined ? [] : [askedBy(asked)])];
  return { deps, owner, says: (other) => rules.some((says) => says(other)), isWhole: false };
}

/** Looks into every place. Changes nothing. */
export async function findAll(search: Omit<Search, "found">, places = PLACES): Promise<FoundIn> {
  const found = new Map<string, readonly Found[]>();
  for (const place of places) found.set(place.name, await findIn(place, { ...search, found }));
  return found;
}

/** Finds what has a part of a text and stays. Changes nothing. */
export function findInPart(
  search: Omit<Search, "found">,
  { text = "", asked }: Pick<Target, "text" | "asked">,
): Promise<FoundIn> {
  const saysPart = saysPartOf(text, asked);
  const says = (other: string): boolean => saysPart(other) && !search.says(other);
  return findAll(
    { ...search, says },
    PLACES.filter(({ said }) => said !== undefined),
  );
}

/** How much it is, in words; empty when there is nothing. */
export function partText(found: FoundIn): string {
  return PLACES.flatMap(({ name, said: [one, many] = ["", ""] }) => {
    const count = countOf(found.get(name));
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
  }).join(", ");
}

/** What was said while one round erased is found by the next; the locks of those keys are held by then. */
const MAX_ROUNDS = 3;

/**
 * Erases it.
 *
 * @throws {LilyError} `turn_running` where all is to go and a turn runs; then nothing was changed. What the storage throws: then
 *   the same erasure, asked for again, goes on
 */
export async function erase(deps: ErasureDeps, target: Target): Promise<Receipt> {
  const { storage } = deps;
  const { owner, text, sessionKey } = target;
  const search = searchFor(deps, target);
  const at = toInstant(Math.trunc(deps.clock.now()));
  const leases = new KeyLeases(deps, target);
  const storeFor: Erasure["storeFor"] = (key) => {
    const lease = key === undefined ? leases.held.values().next().value : leases.held.get(key);
    return lease === undefined ? storage.store : storage.fencedStore(lease);
  };
  const outcome: Outcome = { counts: new Map(), left: new Map() };
  try {
    // First, so that no crash leaves a fact erased that an import or a tool may bring back.
    if (text !== undefined) await markForgotten(factDepsOn(deps, storeFor()), { owner }, text);
    for (let round = 1; round <= MAX_ROUNDS; round += 1) {
      const found = await findAll(search);
      await leases.take([...found.values()].flat().flatMap((one) => one.sessionKey ?? []));
      if (search.isWhole && round === 1 && leases.busy.size > 0)
        throw new LilyError("turn_running", `a turn is running on ${leases.busyNames}`, {
          next: "Try again when it has ended. Nothing was changed.",
        });
      if (!(await eraseRound({ ...search, at, storeFor, found }, leases, outcome))) break;
    }
  } finally {
    await leases.release();
  }
  const prefix = sessionKey === undefined ? `turn/${encodeLabel(owner)}/` : lockName({ owner, sessionKey });
  const locks = search.isWhole ? await storage.erasure?.forgetLocks(prefix) : undefined;
  const lines = [
    ...PLACES.filter((place) => place !== memoryOfKey || sessionKey !== undefined).map((place) =>
      lineOf(place, { ...search, found: new Map() }, outcome),
    ),
    search.isWhole ? erased("locks", locks ?? 0) : line("locks", "kept", "names of conversations alone"),
    ...(text === undefined ? [] : [partLine(await findInPart(search, target))]),
    ...keyLines(deps, target),
    await scrubLine(storage),
    ...outsideLines(deps),
  ];
  const whole = sessionKey === undefined ? "person" : "key";
  return makeReceipt({ what: search.isWhole ? whole : "text", at, lines });
}

/** What was done so far. */
interface Outcome {
  readonly counts: Map<string, number>;
  /** Places of which something is left, with why. */
  readonly left: Map<string, string>;
}

/** Erases what was found, as far as the locks could be had. @returns whether anything was erased */
async function eraseRound(erasure: Erasure, leases: KeyLeases, { counts, left }: Outcome): Promise<boolean> {
  let isAny = false;
  left.clear();
  for (const place of PLACES.toReversed()) {
    const { name, waitsForAll } = place;
    const found = erasure.found.get(name) ?? [];
    const waits = waitsForAll !== undefined && leases.busy.size > 0;
    const open = waits
      ? []
      : found.filter(({ sessionKey }) => sessionKey === undefined || leases.held.has(sessionKey));
    if (open.length < found.length)
      left.set(
        name,
        waitsForAll ?? `a turn is running on ${leases.busyNames}; erase the same again when it has ended`,
      );
    if (open.length === 0) continue;
    leases.assertHeld();
    const gone = await eraseIn(place, open, erasure);
    if (typeof gone === "string") {
      left.set(name, gone);
      continue;
    }
    counts.set(name, (counts.get(name) ?? 0) + gone);
    isAny ||= gone > 0;
  }
  return isAny;
}

function lineOf(place: Place, search: Search, { counts, left }: Outcome): ReceiptLine {
  const kept = place.leaves?.(search);
  if (kept !== undefined) return line(place.name, "kept", kept);
  const count = counts.get(place.name) ?? 0;
  const why = left.get(place.name);
  if (why === undefined) return erased(place.name, count, search.isWhole ? undefined : place.note);
  return line(place.name, "unfinished", count === 0 ? why : `${count} erased; of the rest: ${why}`);
}

function partLine(found: FoundIn): ReceiptLine {
  const what = partText(found);
  if (what === "") return erased("said in part", 0);
  return line("said in part", "kept", `${what} with a part of it; /forget with words of theirs erases them`);
}

function keyLines({ apiKeys }: ErasureDeps, { owner, text, sessionKey }: Target): ReceiptLine[] {
  if (text !== undefined || sessionKey !== undefined) return [];
  const keys = apiKeys?.(owner) ?? 0;
  if (keys === 0) return [erased("API keys", 0)];
  return [line("API keys", "kept", `${keys} still open an empty account; lily keys revoke takes them back`)];
}

/** A turn that runs longer is not waited for: somebody waits for the receipt. */
const WAIT_MS = 2_000;
const SHORT_WAIT_MS = 20;

/** The locks of the owner's keys that are changed: taken in one order, each with a bounded wait, kept to the end. */
class KeyLeases {
  /** By session key, those that the caller held already first. */
  readonly held = new Map<string, LeaseRef>();
  /** Session keys on which turns ran for longer than was waited. */
  readonly busy = new Set<string>();
  readonly #taken: Lease[] = [];
  readonly #deps: ErasureDeps;
  readonly #owner: string;

  constructor(deps: ErasureDeps, { owner, held }: Target) {
    this.#deps = deps;
    this.#owner = owner;
    if (held !== undefined) this.held.set(held.ref.sessionKey, held.lease);
  }

  /** Takes those that are not held, once each. In one order, so that two erasures of an owner wait for each other at most once. */
  async take(sessionKeys: readonly string[]): Promise<void> {
    const { storage, keyWaitMs = WAIT_MS } = this.#deps;
    for (const sessionKey of [...new Set(sessionKeys)].sort()) {
      if (this.held.has(sessionKey) || this.busy.has(sessionKey)) continue;
      // Whoever waited for one long turn does not wait for many.
      const waitMs = this.busy.size === 0 ? keyWaitMs : SHORT_WAIT_MS;
      try {
        const lease = await storage.locks.acquire(lockName({ owner: this.#owner, sessionKey }), { waitMs });
        this.held.set(sessionKey, lease);
        this.#taken.push(lease);
      } catch (error) {
        if (!isLilyError(error) || error.code !== "lease_timeout") throw error;
        this.busy.add(sessionKey);
      }
    }
  }

  get busyNames(): string {
    return [...this.busy]
      .sort()
      .map((key) => JSON.stringify(key))
      .join(", ");
  }

  /** @throws {LilyError} `lease_lost` when one was lost meanwhile: somebody else may be writing */
  assertHeld(): void {
    if (this.#taken.every((lease) => !lease.lost.aborted)) return;
    throw new LilyError("lease_lost", "the lock of a conversation was lost while it was erased from", {
      next: "Ask for the erasure again: it goes on where it was.",
    });
  }

  /** Gives back those that were taken here. */
  async release(): Promise<void> {
    await Promise.all(this.#taken.map((lease) => lease.release()));
  }
}
