import { describe, expect, it } from "vitest";
import { openTestFacts, recordOf } from "../facts/testing/test-facts.ts";
import { DOMAINS, type MemoryRecord } from "../record.ts";
import { haveSameMarks, marksAt, stateOf } from "./lifecycle.ts";
import { RETENTION } from "./retention-defaults.ts";

const DAY_MS = 86_400_000;

async function recordWith(changes: Partial<MemoryRecord>): Promise<MemoryRecord> {
  return { ...recordOf(await openTestFacts().say("I like tea")), ...changes };
}

describe("the retention defaults", () => {
  it("are those of the specification", () => {
    expect(DOMAINS.map((domain) => [domain, RETENTION[domain].stability, RETENTION[domain].expiry])).toEqual([
      ["persona_core", "high", "none"],
      ["user_profile", "medium_high", "optional"],
      ["working_rules", "high", "none"],
      ["task_memory", "medium", "optional"],
    ]);
  });
});

describe("the state of a record", () => {
  const AT = "2026-08-01T00:00:00.000Z";
  const atMs = Date.parse(AT);

  it.each([
    ["current before its expiry", { expires_at: AT }, atMs - 1, "current"],
    ["expired at its expiry", { expires_at: AT }, atMs, "expired"],
    ["current for ever without one", {}, Number.MAX_SAFE_INTEGER, "current"],
    ["archived when marked", { archived: true, expires_at: AT }, atMs + 1, "archived"],
    [
      "superseded whatever else it is",
      { superseded_by: "x", archived: true, expires_at: AT },
      atMs,
      "superseded",
    ],
    ["current when only an old mark says expired", { expired: true }, atMs, "current"],
  ] as const)("is %s", async (_what, changes, nowMs, state) => {
    expect(stateOf(await recordWith(changes), nowMs)).toBe(state);
  });

  it("is not due when nothing reads it", async () => {
    const created = await recordWith({});
    const later = Date.parse(created.created_at) + 181 * DAY_MS;
    expect(marksAt(created, later).verification_due).toBe(true);
    for (const changes of [{ archived: true }, { expires_at: created.created_at }, { superseded_by: "x" }]) {
      expect(marksAt(await recordWith(changes), later).verification_due).toBe(false);
    }
  });

  it("differs by any one mark", () => {
    const marks = { expired: false, archived: false, verification_due: false };
    expect(haveSameMarks(marks, { ...marks })).toBe(true);
    for (const name of ["expired", "archived", "verification_due"] as const) {
      expect(haveSameMarks(marks, { ...marks, [name]: true })).toBe(false);
    }
  });
});
