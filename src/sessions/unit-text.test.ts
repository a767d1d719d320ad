import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { WholeUnit } from "./knowledge-units.ts";
import { parseUnits, printUnits } from "./unit-text.ts";

const DOCUMENT = `@k1 ku atomic "session::turn::unit-000"
@k2 set $k1 sourceId session
@k3 set $k1 chunkId session::turn
@k4 set $k1 role Constraint
@k5 set $k1 topic "deployment environment"
@k6 set $k1 claim "The system must run on CPU only."
@k7 set $k1 utilityActs [verify]
@k8 set $k1 phaseScopes [kb-plugin gs-plugin]
`;

const UNIT: WholeUnit = {
  id: "session::turn::unit-000",
  sourceId: "session",
  chunkIds: ["session::turn"],
  role: "Constraint",
  topic: "deployment environment",
  claim: "The system must run on CPU only.",
  utilityActs: ["verify"],
  phaseScopes: ["kb-plugin", "gs-plugin"],
};

describe("the text of knowledge units", () => {
  it("is that of the specification, in and out", () => {
    expect(parseUnits(DOCUMENT)).toEqual({ units: [{ unit: UNIT, line: 1 }], problems: [] });
    expect(printUnits([UNIT])).toBe(DOCUMENT);
  });

  it("loses nothing, whatever is in a unit", () => {
    const text = fc.oneof(
      fc.string({ unit: "binary" }),
      fc.string(),
      fc.constantFrom("[a b]", '"', "a b", "\n", "\\"),
    );
    const unit: fc.Arbitrary<WholeUnit> = fc.record({
      id: text,
      sourceId: text,
      chunkIds: fc.array(text, { maxLength: 3 }),
      role: fc.constantFrom("Fact", "Constraint", "Definition", "Guidance", "Statement"),
      topic: text,
      claim: text.filter((claim) => claim.trim() !== ""),
      utilityActs: fc.array(text, { maxLength: 3 }),
      phaseScopes: fc.subarray(["planner-plugin", "sd-plugin", "kb-plugin", "gs-plugin"] as const),
    }) as fc.Arbitrary<WholeUnit>;
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 5 }), (units) => {
        const read = parseUnits(printUnits(units));
        expect(read.problems).toEqual([]);
        expect(read.units.map((one) => one.unit)).toEqual(units);
      }),
    );
  });

  it("may leave out fields, and have other labels, comments and blank lines", () => {
    const text = '# mine\n\n@a ku atomic "x"\r\n@b set $a role Fact\n\n@c set $a claim "It rains."';
    expect(parseUnits(text)).toEqual({
      units: [{ unit: { id: "x", role: "Fact", topic: "", claim: "It rains." }, line: 3 }],
      problems: [],
    });
  });

  it.each([
    ["prose", 9, "this is no line of a knowledge unit"],
    ['@k1 ku atomic "y"', 9, "@k1 is named twice"],
    ["@k9 set $k7 role Fact", 9, "$k7 names no unit above it"],
    ["@k9 set $k1 weight 3", 9, "there is no field weight"],
    ["@k9 set $k1 role Fact", 9, "role is set twice"],
    ['@k9 ku atomic "y', 9, "its value cannot be read"],
    ['@k9 ku atomic "y"', 9, "the unit has no role, or no claim"],
    [
      '@k9 ku atomic "y"\n@k10 set $k9 role Opinion',
      10,
      'role: Invalid option: expected one of "Fact"|"Constraint"',
    ],
    [
      '@k9 ku atomic "y"\n@k10 set $k9 phaseScopes [kb gs-plugin]',
      10,
      'phaseScopes: Invalid option: expected one of "planner-plugin"',
    ],
    ['@k9 ku atomic "y"\n@k10 set $k9 claim [a b]', 10, "claim: Invalid input: expected string"],
    ['@k9 ku atomic "y"\n@k10 set $k9 role Fact\n@k11 set $k9 claim ""', 11, "claim: says nothing"],
  ])("tells what is broken by its line: %j", (line, number, problem) => {
    const { units, problems } = parseUnits(`${DOCUMENT}${line}`);
    expect(problems).toEqual([{ line: number, problem: expect.stringContaining(problem) }]);
    expect(units.map(({ unit }) => unit)).toEqual(line.includes("set $k1") ? [] : [UNIT]);
  });
});
