import { describe, expect, it } from "vitest";
import {
  countBoundaries,
  f1,
  mean,
  precision,
  recall,
  sumCounts,
  windowDiff,
  windowSize,
} from "./metrics.ts";
import { fitLogistic, probability } from "./logistic.ts";
import { oneSpeaker } from "./dialogues.ts";

/** `x` begins a topic. */
const starts = (text: string): boolean[] => text.split("").map((letter) => letter === "x");

describe("counts of boundaries", () => {
  const counts = countBoundaries(starts("..x..x.."), starts(".xx....."));

  it("tell hits, false alarms and misses apart, and leave out the first message", () => {
    expect(counts).toEqual({ hits: 1, falseAlarms: 1, misses: 1 });
    expect(countBoundaries(starts("x."), starts("x."))).toEqual({ hits: 0, falseAlarms: 0, misses: 0 });
  });

  it("give precision, recall and F1", () => {
    expect([precision(counts), recall(counts), f1(counts)]).toEqual([0.5, 0.5, 0.5]);
    expect(f1({ hits: 0, falseAlarms: 0, misses: 3 })).toBe(0);
    expect(precision({ hits: 0, falseAlarms: 0, misses: 3 })).toBeNaN();
  });

  it("add up over dialogues", () => {
    expect(sumCounts([counts, counts])).toEqual({ hits: 2, falseAlarms: 2, misses: 2 });
    expect(mean([])).toBe(0);
  });
});

describe("WindowDiff", () => {
  it("is 0 where all boundaries are found, and counts the windows that differ", () => {
    const labels = starts("....x....");
    expect(windowDiff(labels, labels)).toBe(0);
    expect(windowDiff(labels, starts("........."))).toBeCloseTo(2 / 8);
    expect(windowDiff(labels, starts(".....x...."))).toBeCloseTo(2 / 8);
  });

  it("has a window of half a topic, at least two messages", () => {
    expect(windowSize(starts("........"))).toBe(4);
    expect(windowSize(starts(".x.x.x.x"))).toBe(2);
  });
});

describe("logistic regression", () => {
  it("gives the feature that decides its weight, the same each time", () => {
    const examples = [0, 1].flatMap((value) =>
      Array.from({ length: 50 }, (_unused, index) => ({
        values: [value, 0],
        isShift: (value === 1) !== index < 5,
      })),
    );
    const model = fitLogistic(examples);
    expect(model).toEqual(fitLogistic(examples));
    expect(probability(model, [1, 0])).toBeGreaterThan(0.8);
    expect(probability(model, [0, 0])).toBeLessThan(0.2);
    expect(model.weights[1]).toBeCloseTo(0);
  });
});

describe("one speaker of a dialogue", () => {
  it("begins a topic with the first message after the other speaker began it", () => {
    const dialogue = { messages: ["a", "b", "c", "d", "e"], starts: starts("...x.") };
    expect(oneSpeaker(dialogue, 0)).toEqual({ messages: ["a", "c", "e"], starts: [false, false, true] });
    expect(oneSpeaker(dialogue, 1)).toEqual({ messages: ["b", "d"], starts: [false, true] });
  });
});
