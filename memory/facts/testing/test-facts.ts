/** A fact store on an in-memory store with a clock that stands still, for tests. */
import { rejects } from "node:assert/strict";
import {
  InMemoryStore,
  type BaseStore,
  type Operation,
  type OperationResults,
} from "@langchain/langgraph-checkpoint";
import { createManualClock, toInstant, type ManualClock } from "#src/kernel/clock.ts";
import { createSequentialIds } from "#src/kernel/ids.ts";
import type { MemoryRecord } from "../../record.ts";
import { memoryRecord } from "../../testing/memory-record.ts";
import { createFactStore, type FactStore } from "../fact-store.ts";
import { putRecords, recordId } from "../rows.ts";
import type { Fact, RememberOutcome, Who } from "../types.ts";

export const ADA: Who = { owner: "ada", sessionId: "s1", turn: 3 };

/** 2026-02-03T10:15:00.000Z */
export const NOW_MS = Date.UTC(2026, 1, 3, 10, 15);

export interface TestFacts {
  readonly facts: FactStore;
  readonly store: BaseStore;
  readonly clock: ManualClock;
  /** What ada types after /remember. */
  say(text: string, more?: Partial<Fact>): Promise<RememberOutcome>;
  /** The texts that are read by default, newest first. */
  texts(): Promise<string[]>;
}

/** A fact store with its clock a second further on after each word of the owner. */
export function openTestFacts(store: BaseStore = new InMemoryStore()): TestFacts {
  const clock = createManualClock(NOW_MS);
  const facts = createFactStore(store, { clock, ids: createSequentialIds(), scan: async () => [] });
  return {
    facts,
    store,
    clock,
    async say(text, more = {}) {
      const outcome = await facts.remember(ADA, { text, saidBy: "owner", source: "command", ...more });
      clock.advance(1000);
      return outcome;
    },
    async texts() {
      const { records } = await facts.show(ADA, { scope: "*" });
      return records.map((record) => record.text);
    },
  };
}

/** As if ada had said each of `texts`, a second after the one before, all in one write: for many. */
export async function sayMany(
  { store, clock }: TestFacts,
  texts: readonly string[],
  more: Partial<MemoryRecord> = {},
): Promise<void> {
  const records = texts.map((text) => {
    const at = toInstant(clock.now());
    clock.advance(1000);
    const record = memoryRecord({ id: "", text, created_at: at, updated_at: at, ...more });
    return { ...record, id: recordId(ADA.owner, record, text) };
  });
  await putRecords(store, ADA.owner, records);
}

/** Says it on a store whose batch is not atomic, and crashes in it behind the fact, before the marks on what it supersedes. */
export async function crashWhileSaying(
  { say, store }: TestFacts,
  { text, about }: Required<Pick<Fact, "text" | "about">>,
): Promise<void> {
  const batch = store.batch.bind(store);
  store.batch = async <Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> => {
    if (operations.length < 2) return batch(operations);
    await batch(operations.slice(0, 1));
    throw new Error("crash");
  };
  await rejects(say(text, { about }), /crash/u);
  store.batch = batch;
}

/** The record of an outcome that has one. */
export function recordOf(outcome: RememberOutcome | { readonly kind: "none" }) {
  if ("record" in outcome) return outcome.record;
  throw new Error(`there is no record: ${outcome.kind}`);
}
