/**
 * Erases what says a text from everything that is kept of its owner, and answers with a receipt. Done again, it finishes
 * what a crash or a busy conversation left.
 */
import { toInstant } from "#src/kernel/clock.ts";
import type { Desk } from "#memory/book/desk.ts";
import { forgetSaying, markForgotten } from "#memory/book/forget-saying.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { eraseBlobs } from "./blobs.ts";
import type { ErasureDeps } from "./erasure-deps.ts";
import { findTraces, isNothing, keysOf, type Traces } from "./find-traces.ts";
import { KeyLeases, type HeldKey } from "./key-leases.ts";
import { makeReceipt, type Receipt } from "./receipt.ts";
import { findInPart, partLine } from "./said-in-part.ts";
import { askedBy, saysAny, saysOf, type Says } from "./says.ts";
import { eraseTyped } from "./typed-line.ts";
import { TextTally } from "./text-tally.ts";

/** What is to be erased. */
export interface TextErasure {
  readonly owner: string;
  /** The fact, or words that stand for one. */
  readonly text: string;
  /** The words with which it was asked for, which need not be its own. */
  readonly asked?: string;
  /** The key on which the erasure was asked for, whose lock is held. */
  readonly held?: HeldKey;
}

/** What was said while one round erased is found by the next; the locks of those keys are held by then. */
const MAX_ROUNDS = 3;

/** What says it: the fact; and commands that asked for it in words of their own. */
export function rulesOf({ text, asked }: Pick<TextErasure, "text" | "asked">): Says {
  return saysAny([saysOf(text), ...(asked === undefined ? [] : [askedBy(asked)])]);
}

/** Erases it. @throws what the storage throws; then the same erasure, asked for again, goes on */
export async function eraseText(deps: ErasureDeps, erasure: TextErasure): Promise<Receipt> {
  const { owner, text } = erasure;
  const { storage, clock } = deps;
  const at = toInstant(Math.trunc(clock.now()));
  const says = rulesOf(erasure);
  const leases = new KeyLeases(storage.locks, { held: erasure.held, waitMs: deps.keyWaitMs });
  const tally = new TextTally(deps);
  try {
    // First, so that no crash leaves a fact erased that an import or a tool may bring back.
    await markForgotten(deskOf(deps, fenced(deps, leases)), { owner }, text);
    for (let round = 1; round <= MAX_ROUNDS; round += 1) {
      const traces = await findTraces(deps, deskOf(deps, storage.store), { owner, says });
      const open = await openTraces(leases, traces);
      tally.leave(traces, open);
      if (isNothing(open)) break;
      await eraseRound(deps, { owner, says, at, traces: open, leases, tally });
    }
  } finally {
    await leases.release();
  }
  const inPart = await findInPart(deps, deskOf(deps, storage.store), { ...erasure, says });
  const lines = [eraseTyped(deps, owner, says), partLine(inPart), ...(await tally.lines(leases.busy))];
  return makeReceipt({ what: "text", at, lines });
}

interface Round {
  readonly owner: string;
  readonly says: Says;
  readonly at: string;
  readonly traces: Traces;
  readonly leases: KeyLeases;
  readonly tally: TextTally;
}

const NO_MEMORY: Traces["memory"] = { records: [], unreadable: [] };

/** The traces in keys whose locks could be had. While one is busy the record stays: its id is how a person asks again. */
async function openTraces(leases: KeyLeases, traces: Traces): Promise<Traces> {
  await leases.take(keysOf(traces));
  const isHeld = (ref: { readonly owner: string; readonly sessionKey: string }): boolean =>
    leases.of(ref) !== undefined;
  // Failed turns and titles of all keys go in one call.
  const all = (refs: Traces["titles"]): Traces["titles"] => (refs.every(isHeld) ? refs : []);
  return {
    ...traces,
    turns: traces.turns.filter(({ ref }) => isHeld(ref)),
    failures: all(traces.failures),
    titles: all(traces.titles),
    threads: traces.threads.filter(({ ref }) => isHeld(ref)),
    memory: leases.busy.length === 0 ? traces.memory : NO_MEMORY,
  };
}

/**
 * One round. What is found by way of the turns goes before them, and the record last: its id is how a person asks for
 * the same again.
 */
async function eraseRound(deps: ErasureDeps, round: Round): Promise<void> {
  const { owner, says, at, traces, leases, tally } = round;
  const store = fenced(deps, leases);
  const repository = createStoreSessionRepository(store);
  for (const { sessionId } of traces.threads) await deps.storage.checkpointer.deleteThread(sessionId);
  await eraseBlobs(store, owner, traces.blobs);
  leases.assertHeld();
  tally.count(traces);
  await redact(deps, round);
  if (traces.failures.length > 0) tally.failures += await repository.eraseFailures(owner, says);
  if (traces.titles.length > 0) tally.titles += await repository.eraseChainTexts(owner, says, at);
  for (const { namespace, key } of traces.evidence) await store.delete(namespace, key);
  if (leases.busy.length > 0) return;
  const { forgotten } = await forgetSaying(deskOf(deps, store), { owner }, says);
  tally.records += forgotten;
}

/** The turns of each key, under the lock of that key. */
async function redact({ storage }: ErasureDeps, { traces, leases, at, tally }: Round): Promise<void> {
  for (const ref of keysOf({ ...traces, failures: [], titles: [], threads: [] })) {
    const lease = leases.of(ref);
    if (lease === undefined) continue;
    const turns = traces.turns
      .filter((turn) => turn.ref.sessionKey === ref.sessionKey)
      .map(({ ref: { sessionId }, turn }) => ({ sessionId, turn }));
    const repository = createStoreSessionRepository(storage.fencedStore(lease));
    const { redacted } = await repository.redactTurns(ref, turns, at);
    tally.turns += redacted;
  }
}

/** The store under one of the leases: whoever woke up late must not erase either. */
function fenced({ storage }: ErasureDeps, leases: KeyLeases): BaseStore {
  const lease = leases.any();
  return lease === undefined ? storage.store : storage.fencedStore(lease);
}

/** Memory on `store`. */
export function deskOf({ clock, ids }: ErasureDeps, store: BaseStore): Desk {
  // Only what is to be remembered is searched for secrets.
  return { store, clock, ids, scan: async () => [] };
}
