/** Measures prepared subjects in rounds: each takes a few turns and then the next, so that a busy machine slows all of them. */
import { benchmarkText } from "./benchmark-text.ts";
import { collectGarbage } from "./collect-garbage.ts";
import { processorMs, timed } from "./measure.ts";
import type { PreparedCase } from "./prepare-case.ts";
import { folderBytes } from "./subject.ts";

/** What was measured of one subject. */
export interface Measured {
  /** Milliseconds of each turn. */
  readonly ms: number[];
  /** Processor time of all of them. */
  processorMs: number;
  given: number;
  /** Growth of the folder with each turn; 0 for a subject that keeps nothing. */
  bytesPerTurn: number;
}

/** Runs all rounds; one result for each case, in the same order. */
export async function measureRounds(cases: readonly PreparedCase[], rounds: number): Promise<Measured[]> {
  const measured = cases.map(nothingYet);
  const before: number[] = [];
  for (const prepared of cases) before.push(await settledBytes(prepared));
  for (let round = 0; round < rounds; round += 1) {
    for (const [index, prepared] of cases.entries()) {
      const into = measured[index];
      if (into !== undefined) await measureBlock(prepared, into);
    }
  }
  for (const [index, into] of measured.entries()) {
    const prepared = cases[index];
    if (prepared !== undefined)
      into.bytesPerTurn = ((await settledBytes(prepared)) - (before[index] ?? 0)) / into.ms.length;
  }
  return measured;
}

const nothingYet = (): Measured => ({ ms: [], processorMs: 0, given: 0, bytesPerTurn: 0 });

async function measureBlock(prepared: PreparedCase, into: Measured): Promise<void> {
  const { plan, subject, conversations, turnsEach } = prepared;
  for (let turn = 0; turn < plan.turnsPerRound; turn += 1) {
    const number = into.ms.length;
    const conversation = conversations[Math.floor(number / turnsEach)] ?? "";
    const text = benchmarkText(plan.turns + number + 1, "measured question");
    const usedBefore = processorMs();
    into.ms.push(await timed(() => subject.turn(conversation, text)));
    into.processorMs += processorMs() - usedBefore;
    into.given = subject.given();
  }
  // A conversation that is written whole leaves garbage and unwritten pages, which are not the next one's to pay for.
  if (plan.subject !== "plain") return;
  await subject.settle();
  collectGarbage();
}

async function settledBytes({ subject, folder }: PreparedCase): Promise<number> {
  await subject.settle();
  return folderBytes(folder);
}
