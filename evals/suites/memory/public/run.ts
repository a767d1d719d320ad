/** The evaluation of memory on public data: nothing leaks, nothing is replaced without a reason, and what is found. */
import { resolve } from "node:path";
import Table from "cli-table3";
import { createManualClock } from "#src/kernel/clock.ts";
import { createSequentialIds } from "#src/kernel/ids.ts";
import { createFactStore, type FactStore } from "#memory/facts/fact-store.ts";
import { memoryIndexFields } from "#memory/namespaces.ts";
import { openDatabase } from "#memory/stores/sqlite/open-database.ts";
import { SqliteStore } from "#memory/stores/sqlite/sqlite-store.ts";
import { MEMORY_FILES, readMadial, readPrecision } from "./data.ts";
import { measureMadial, type MadialMeasure } from "./madial.ts";
import { measurePrecision, type PrecisionMeasure } from "./precision.ts";

/** Below this share of its memories for a turn, MADial-Bench is recalled worse than it was. */
const LEAST_RECALL_AT_20 = 0.5;

/** An empty book of facts in memory. */
export function openBook(): FactStore {
  const clock = createManualClock(0);
  const fields = (namespace: readonly string[]) => memoryIndexFields(namespace) ?? ["$"];
  const store = new SqliteStore(openDatabase(":memory:"), { clock, index: { fields } });
  return createFactStore(store, { clock, ids: createSequentialIds(), scan: async () => [] });
}

/** Runs both data sets. @returns the exit code: 1 when something leaks or is found too seldom; without the files 0 */
export async function runPublicEval(args: readonly string[], out: (text: string) => void): Promise<number> {
  const folder = resolve(process.env["LILY_DATA"] ?? "../shared/data");
  const [precision, madial] = [readPrecision(folder), readMadial(folder)];
  if (precision === undefined || madial === undefined) {
    out(`${folder} has no ${Object.values(MEMORY_FILES).join(" and ")}; LILY_DATA names another folder.`);
    return 0;
  }
  const apart = await measurePrecision(openBook(), precision);
  const found = await measureMadial(openBook(), madial);
  out(args.includes("--json") ? JSON.stringify({ apart, found }, null, 2) : reportOf(apart, found));
  return isGoodEnough(apart, found) ? 0 : 1;
}

function isGoodEnough({ leaks, wronglyReplaced }: PrecisionMeasure, found: MadialMeasure): boolean {
  const leaked = leaks.replaced + leaks.otherTask + leaks.otherPerson;
  const replaced = wronglyReplaced + found.wronglyReplaced;
  return leaked === 0 && replaced === 0 && found.recall[20] >= LEAST_RECALL_AT_20;
}

function reportOf(apart: PrecisionMeasure, found: MadialMeasure): string {
  const style = { head: [], border: [], compact: true };
  const leaks = new Table({
    head: [
      "precisionMemBench",
      "facts",
      "questions",
      "replaced without reason",
      "given though replaced",
      "of another task",
      "of another person",
      "found",
    ],
    style,
  });
  const { replaced, otherTask, otherPerson } = apart.leaks;
  const share = `${apart.found.toFixed(2)} of ${apart.wanted}`;
  leaks.push([
    "",
    apart.facts,
    apart.questions,
    apart.wronglyReplaced,
    replaced,
    otherTask,
    otherPerson,
    share,
  ]);
  const recall = new Table({
    head: ["MADial-Bench", "memories", "turns", "replaced without reason", "@1", "@3", "@5", "@10", "@20"],
    style,
  });
  const shares = Object.values(found.recall).map((one) => one.toFixed(3));
  recall.push(["", found.memories, found.turns, found.wronglyReplaced, ...shares]);
  return `${leaks.toString()}\n${recall.toString()}`;
}
