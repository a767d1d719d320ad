import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { durationText } from "./duration-text.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

describe("a duration in words", () => {
  it.each([
    [0, "0 s"],
    [499, "0 s"],
    [500, "1 s"],
    [59_499, "59 s"],
    [59_500, "1 min"],
    [MINUTE, "1 min"],
    [90_000, "1 min 30 s"],
    [HOUR - 1, "1 h"],
    [12 * HOUR, "12 h"],
    [13 * HOUR + 5 * MINUTE, "13 h 5 min"],
    [13 * HOUR + 5 * MINUTE + 29_000, "13 h 5 min"],
    [HOUR + 5_000, "1 h 5 s"],
    [DAY - 1, "1 d"],
    [2 * DAY + 3 * HOUR, "2 d 3 h"],
    [400 * DAY, "400 d"],
  ])("is for %i ms: %s", (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });

  it("has one or two units, each a whole number", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 4000 * DAY }), (ms) => {
        expect(durationText(ms)).toMatch(/^\d+ (?:d|h|min|s)(?: \d+ (?:h|min|s))?$/u);
      }),
    );
  });

  it("never has as many hours, minutes or seconds as make up the next unit", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 10 * DAY }), (ms) => {
        expect(durationText(ms)).not.toMatch(/\b(?:24 h|60 min|60 s)\b/u);
      }),
    );
  });
});
