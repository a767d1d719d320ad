/** The evaluation of evidence: how often the passage that answers is found, by store. */
import { InMemoryStore, type BaseStore } from "@langchain/langgraph-checkpoint";
import Table from "cli-table3";
import { createManualClock } from "#src/kernel/clock.ts";
import { indexFieldsOf } from "#memory/namespaces.ts";
import { openDatabase } from "#memory/stores/sqlite/open-database.ts";
import { SqliteStore } from "#memory/stores/sqlite/sqlite-store.ts";
import { measureEvidence, type EvidenceMeasure } from "./measure.ts";

/** Below these the search is not good enough. */
const LEAST = { first: 0.85, given: 0.95, silent: 1 };

/** The stores: one that ranks, and one for which the book ranks. */
export const EVIDENCE_STORES: readonly (readonly [string, () => BaseStore])[] = [
  ["SqliteStore", sqliteStore],
  ["InMemoryStore", () => new InMemoryStore()],
];

function sqliteStore(): BaseStore {
  return new SqliteStore(openDatabase(":memory:"), {
    clock: createManualClock(0),
    index: { fields: indexFieldsOf },
  });
}

/** Whether a measure is good enough. */
export function isGoodEnough({ first, given, silent }: EvidenceMeasure): boolean {
  return first >= LEAST.first && given >= LEAST.given && silent >= LEAST.silent;
}

/** Runs the questions. @returns the exit code: 1 when a store is below the mark */
export async function runEvidenceEval(args: readonly string[], out: (text: string) => void): Promise<number> {
  const measures: (readonly [string, EvidenceMeasure])[] = [];
  for (const [name, makeStore] of EVIDENCE_STORES) measures.push([name, await measureEvidence(makeStore())]);
  out(args.includes("--json") ? JSON.stringify(Object.fromEntries(measures), null, 2) : reportOf(measures));
  return measures.every(([, measure]) => isGoodEnough(measure)) ? 0 : 1;
}

function reportOf(measures: readonly (readonly [string, EvidenceMeasure])[]): string {
  const table = new Table({
    head: ["store", "questions", "answer first", "answer given", "silent where nothing answers"],
    style: { head: [], border: [], compact: true },
  });
  for (const [name, { questions, first, given, silent }] of measures)
    table.push([name, questions, first.toFixed(2), given.toFixed(2), silent.toFixed(2)]);
  const misses = measures.flatMap(([name, measure]) => measure.misses.map((miss) => `${name}: ${miss}`));
  return [table.toString(), ...misses].join("\n");
}
