/**
 * Erases a text, a conversation or a person from every place, and answers with a receipt. Done again, it finishes what a crash or
 * a turn that ran has left.
 */
import { toInstant } from "#src/kernel/clock.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { encodeLabel } from "#src/kernel/ids.ts";
import { markForgotten } from "#memory/facts/forget.ts";
import { lockName, parseOwner } from "#src/sessions/session-key.ts";
import type { KeyRef } from "#src/sessions/repository.ts";
import { KeyLeases, type HeldKey } from "./key-leases.ts";
import { countOf, type Erasure, type ErasureDeps, type Found, type Place, type Search } from "./place.ts";
import { PLACES } from "./places.ts";
import { factDepsOn, memoryOfKey } from "./places/belongings.ts";
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
  /** The key on which the erasure was asked for, whose lock is held. */
  readonly held?: HeldKey;
}

/** What was found, by the name of its place. */
export type FoundIn = ReadonlyMap<string, readonly Found[]>;

/** What is looked for: the fact, and commands that asked for it in words of their own; or everything. */
export function searchFor(
  deps: ErasureDeps,
  { owner, text, asked, sessionKey }: Target,
): Omit<Search, "found"> {
  parseOwner(owner);
  if (text === undefined) {
    return { deps, owner, sessionKey, says: () => true, isWhole: true };
  }
  const rules = [saysOf(text), ...(asked === undefined ? [] : [askedBy(asked)])];
  return { deps, owner, says: (other) => rules.some((says) => says(other)), isWhole: false };
}

/** Looks into every place. Changes nothing. */
export async function findAll(search: Omit<Search, "found">, places = PLACES): Promise<FoundIn> {
  const found = new Map<string, readonly Found[]>();
  for (const place of places) {
    const here = { ...search, found };
    found.set(place.name, place.leaves?.(here) === undefined ? await place.find(here) : []);
  }
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
  const leases = new KeyLeases(storage.locks, { held: target.held, waitMs: deps.keyWaitMs });
  const storeFor: Erasure["storeFor"] = (key) => {
    const lease = key === undefined ? leases.any() : leases.of({ owner, sessionKey: key });
    return lease === undefined ? storage.store : storage.fencedStore(lease);
  };
  const outcome: Outcome = { counts: new Map(), left: new Map() };
  try {
    // First, so that no crash leaves a fact erased that an import or a tool may bring back.
    if (text !== undefined) await markForgotten(factDepsOn(deps, storeFor()), { owner }, text);
    for (let round = 1; round <= MAX_ROUNDS; round += 1) {
      const found = await findAll(search);
      await leases.take(keysIn(owner, found));
      if (search.isWhole && round === 1 && leases.busy.length > 0) throw stillRunning(leases.busy);
      if (!(await eraseRound({ ...search, text, at, storeFor, found }, leases, outcome))) break;
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
    const found = erasure.found.get(place.name) ?? [];
    const isOpen = ({ sessionKey }: Found): boolean =>
      sessionKey === undefined || leases.of({ owner: erasure.owner, sessionKey }) !== undefined;
    const waits = place.waitsForAll !== undefined && leases.busy.length > 0;
    const open = waits ? [] : found.filter(isOpen);
    if (open.length < found.length) left.set(place.name, place.waitsForAll ?? busyText(leases.busy));
    if (open.length === 0) continue;
    leases.assertHeld();
    const gone = await place.erase(open, erasure);
    if (typeof gone === "string") {
      left.set(place.name, gone);
      continue;
    }
    counts.set(place.name, (counts.get(place.name) ?? 0) + gone);
    isAny ||= gone > 0;
  }
  return isAny;
}

function keysIn(owner: string, found: FoundIn): KeyRef[] {
  const keys = [...found.values()].flat().flatMap(({ sessionKey }) => sessionKey ?? []);
  return [...new Set(keys)].map((sessionKey) => ({ owner, sessionKey }));
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

function busyText(busy: readonly string[]): string {
  return `a turn is running on ${namesOf(busy)}; erase the same again when it has ended`;
}

function stillRunning(busy: readonly string[]): LilyError {
  return new LilyError("turn_running", `a turn is running on ${namesOf(busy)}`, {
    next: "Try again when it has ended. Nothing was changed.",
  });
}

function namesOf(busy: readonly string[]): string {
  return busy.map((key) => JSON.stringify(key)).join(", ");
}
