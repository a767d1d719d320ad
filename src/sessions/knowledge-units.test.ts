import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  claimKey,
  joinUnits,
  MOST_UNIT_CHARACTERS,
  MOST_UNITS,
  sizeOf,
  unitsAfter,
  wholeUnit,
  type HeldUnit,
  type KnowledgeUnit,
} from "./knowledge-units.ts";

const said = (claim: string, changes: Partial<KnowledgeUnit> = {}): KnowledgeUnit => ({
  role: "Statement",
  topic: "",
  claim,
  ...changes,
});

const claims = (units: readonly HeldUnit[] | undefined): string[] => (units ?? []).map(({ claim }) => claim);

describe("the units of a session", () => {
  it("are those of its turns, in order, each with its place", () => {
    const one = unitsAfter(undefined, { turn: 2, units: [said("It runs on CPU only."), said("It is red.")] });
    expect(unitsAfter(one, { turn: 5, units: [said("It is old.")] })).toEqual([
      { ...said("It runs on CPU only."), turn: 2, n: 1 },
      { ...said("It is red."), turn: 2, n: 2 },
      { ...said("It is old."), turn: 5, n: 1 },
    ]);
    expect(unitsAfter(undefined, { turn: 1 })).toBeUndefined();
  });

  it("are one for the same claim, the first; erasing its turn leaves the other one", () => {
    const again = { turn: 4, units: [said("the  system must run on ＣＰＵ only")] };
    const first = unitsAfter(undefined, { turn: 1, units: [said("The system must run on CPU only.")] });
    expect(unitsAfter(first, again)).toEqual(first);
    expect(claims(unitsAfter(unitsAfter(undefined, { turn: 1 }), again))).toHaveLength(1);
    expect(claimKey("It is -5 °C")).not.toBe(claimKey("It is 5 °C"));
    expect(claimKey("C++ it is")).not.toBe(claimKey("C it is"));
  });

  it("are dropped by their place, and cleared with the working set", () => {
    const held = unitsAfter(undefined, { turn: 1, units: [said("It is red."), said("It is old.")] });
    const dropped = unitsAfter(held, { turn: 2, changes: { unitsDropped: [{ turn: 1, n: 1 }] } });
    expect(claims(dropped)).toEqual(["It is old."]);
    expect(unitsAfter(held, { turn: 2, changes: { contextFrom: 2 } })).toBeUndefined();
  });

  it("are as many as there is room for: sentences without a number go first, then other sentences, the oldest first", () => {
    const constraint = said("It must run on CPU.", { role: "Constraint" });
    const old = [constraint, said("My code is 4711."), said("It rains today."), said("It snows.")];
    const more = Array.from({ length: MOST_UNITS - 3 }, (_, index) => said(`Room ${index} is free.`));
    const full = unitsAfter(unitsAfter(undefined, { turn: 1, units: old }), { turn: 2, units: more });
    expect(claims(full)).toHaveLength(MOST_UNITS);
    expect(claims(full).slice(0, 3)).toEqual(["It must run on CPU.", "My code is 4711.", "It snows."]);
    const over = unitsAfter(full, { turn: 3, units: [said("Room 99 is free."), said("Room 98 is free.")] });
    expect(claims(over).slice(0, 2)).toEqual(["It must run on CPU.", "Room 0 is free."]);
  });

  it("are never above their bounds, whatever was said, and the same however often they are made anew", () => {
    const unit = fc.record({
      role: fc.constantFrom("Statement" as const, "Fact" as const),
      topic: fc.string({ maxLength: 20 }),
      claim: fc.string({ minLength: 1, maxLength: 500 }),
    });
    fc.assert(
      fc.property(fc.array(fc.array(unit, { maxLength: 8 }), { maxLength: 30 }), (turns) => {
        const fold = () =>
          turns.reduce<HeldUnit[] | undefined>(
            (held, units, index) => unitsAfter(held, { turn: index + 1, units }),
            undefined,
          );
        const held = fold() ?? [];
        expect(held.length).toBeLessThanOrEqual(MOST_UNITS);
        expect(held.reduce((sum, one) => sum + sizeOf(one), 0)).toBeLessThanOrEqual(MOST_UNIT_CHARACTERS);
        expect(new Set(held.map(({ claim }) => claimKey(claim))).size).toBe(held.length);
        expect(fold() ?? []).toEqual(held);
      }),
      { numRuns: 50 },
    );
  });

  it("of sessions that are continued keep the session that they are of", () => {
    const part = unitsAfter(undefined, { turn: 3, units: [said("It is red.")] });
    const once = joinUnits([{ sessionId: "s1", units: part }]);
    expect(once).toEqual([{ ...said("It is red."), sessionId: "s1", turn: 3, n: 1 }]);
    expect(joinUnits([{ sessionId: "s2", units: once }])).toEqual(once);
    expect(joinUnits([{ sessionId: "s1", units: undefined }])).toBeUndefined();
  });
});

describe("a whole unit", () => {
  it("has the document's fields, made of its place where it says nothing else", () => {
    expect(wholeUnit({ ...said("It is red."), turn: 3, n: 2 }, "s1")).toEqual({
      id: "s1::3::unit-001",
      sourceId: "session",
      chunkIds: ["s1::3"],
      role: "Statement",
      topic: "",
      claim: "It is red.",
      utilityActs: [],
      phaseScopes: ["planner-plugin", "sd-plugin", "kb-plugin", "gs-plugin"],
    });
    const given = { id: "x", sourceId: "y", chunkIds: ["z"], utilityActs: ["verify"] };
    expect(wholeUnit({ ...said("a", given), turn: 3, n: 2 }, "s1")).toMatchObject(given);
  });
});
