import { describe, expect, it } from "vitest";
import type { CasePlan } from "./bench-plan.ts";
import { turnBench } from "./turn-bench.ts";

describe("the turn benchmark", () => {
  it("measures each subject, weighs what it keeps and resumes it in a fresh process", async () => {
    const one = { usesTools: false, isPreloaded: false, turnsPerRound: 1 };
    const cases: CasePlan[] = [
      { ...one, subject: "lily", turns: 2 },
      { ...one, subject: "floor", turns: 0 },
      { ...one, subject: "plain", turns: 2 },
      { ...one, subject: "plain", turns: 8, isPreloaded: true },
    ];
    const result = await turnBench({ cases, rounds: 2, freshRuns: 1, freshFrom: 8 });
    const [lily, floor, plain, preloaded] = result.cases;
    expect(result.cases.map(({ samples, given }) => [samples, given])).toEqual([
      [2, 7],
      [2, 1],
      [2, 7],
      [2, 19],
    ]);
    expect(lily?.disk?.kinds?.map(({ kind }) => kind)).toContain("transcripts");
    expect(floor?.disk).toBeUndefined();
    expect(plain?.disk?.isComputed).toBe(false);
    expect(preloaded?.disk?.totalBytes).toBeGreaterThan(plain?.disk?.totalBytes ?? Number.NaN);
    expect(preloaded?.fresh?.rssBytes).toBeGreaterThan(preloaded?.fresh?.heapBytes ?? Number.NaN);
    expect(lily?.fresh).toBeUndefined();
  });
});
