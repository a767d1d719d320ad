import { describe, expect, it } from "vitest";
import type { MemoryRecord } from "#memory/record.ts";
import { memoryRecord } from "#memory/testing/memory-record.ts";
import { explainFact, factHeadline, type FactSurroundings } from "./explain-fact.ts";
import type { Telling } from "./reason.ts";

const DAY = 86_400_000;
const SAID = Date.parse("2026-03-01T09:00:00Z");
const ID = "1a2b3c4d-0000-4000-8000-000000000000";
const OTHER = "5e6f7a8b-0000-4000-8000-000000000000";

const alone: FactSurroundings = { words: undefined, replaced: [], replacedBy: undefined, conflicts: [] };

function telling(nowMs = SAID): Telling {
  return { nowMs, timeZone: "UTC", nameOf: (sessionId) => `session ${sessionId}` };
}

function fact(changes: Partial<MemoryRecord> = {}): MemoryRecord {
  return memoryRecord({ id: ID, text: "I like tea", session_id: "2", turn: 3, ...changes });
}

function reasonOf(
  about: string,
  changes: Partial<MemoryRecord>,
  { around = alone, nowMs = SAID }: { around?: FactSurroundings; nowMs?: number } = {},
): string | undefined {
  return explainFact(fact(changes), around, telling(nowMs)).find((reason) => reason.about === about)?.text;
}

describe("the explanation of a fact", () => {
  it("begins with its short id and its text on one line", () => {
    expect(factHeadline(fact({ text: "I like\n tea" }))).toBe("1a2b3c4d: “I like tea”");
  });

  it.each<[Partial<MemoryRecord>, string]>([
    [{}, "you asked to keep it in turn 3 of session 2 (2026-03-01 09:00)"],
    [{ source: "inference" }, "gathered from what you said in turn 3 of session 2 (2026-03-01 09:00)"],
    [{ said_by: "assistant", turn: null }, "noted by the assistant in session 2 (2026-03-01 09:00)"],
    [{ said_by: "tool", session_id: null }, "noted by a tool (2026-03-01 09:00)"],
    [{ said_by: "import", session_id: null }, "read from an imported file, said (2026-03-01 09:00)"],
  ])("says by whose word it is kept: %j", (changes, text) => {
    expect(reasonOf("from", changes)).toBe(text);
  });

  it.each<[Partial<MemoryRecord>, string]>([
    [{}, "holds"],
    [{ expires_at: "2026-03-02T09:00:00.000Z" }, "holds until 2026-03-02 09:00"],
    [{ expires_at: "2026-03-01T09:00:00.000Z" }, "expired on 2026-03-01 09:00: kept, and not read any more"],
    [{ archived: true }, "archived: kept, and not read any more"],
    [{ superseded_by: OTHER }, "replaced by what was said later"],
  ])("says whether it holds: %j", (changes, text) => {
    expect(reasonOf("state", changes)).toBe(text);
  });

  it.each([
    [180 * DAY - 1, "not since it was said; due on 2026-08-28 09:00 (180 days)"],
    [180 * DAY, "not since it was said; due since 2026-08-28 09:00 (180 days)"],
  ])("says %i ms after it was said when its owner is asked again", (sinceMs, text) => {
    expect(reasonOf("confirmed", {}, { nowMs: SAID + sinceMs })).toBe(text);
  });

  it("does not ask again for what nobody reads, or what only its owner changes", () => {
    expect(reasonOf("confirmed", { archived: true }, { nowMs: SAID + 400 * DAY })).toBe(
      "not since it was said",
    );
    expect(reasonOf("confirmed", { domain: "persona_core" })).toContain("nothing asks for it again");
  });

  it("names the rule of its domain, or that it was chosen by hand or by its task", () => {
    expect(reasonOf("kind", { text: "Never push to main", domain: "working_rules" })).toBe(
      "working_rules (it begins with “never”)",
    );
    expect(reasonOf("kind", { text: "猫" })).toBe(
      "user_profile (it begins like nothing in the table, so it is about you and your life)",
    );
    expect(reasonOf("kind", { domain: "working_rules" })).toBe(
      "working_rules, which was named with it or chosen by an earlier version",
    );
    expect(reasonOf("kind", { domain: "task_memory", task: "apollo" })).toContain("of the task “apollo”");
  });

  it("names what it replaced, what replaced it and what stands beside it, and how many of them are gone", () => {
    const other = memoryRecord({ id: OTHER, text: "I like milk" });
    const around = { ...alone, replaced: [other], replacedBy: other, conflicts: [other] };
    const changes = { supersedes: [OTHER, ID], superseded_by: OTHER };
    expect(reasonOf("replaced", changes, { around })).toBe(
      "“I like milk” (5e6f7a8b); 1 more, which is not there any more",
    );
    expect(reasonOf("replaced by", changes, { around })).toBe("“I like milk” (5e6f7a8b)");
    expect(reasonOf("replaced by", changes)).toBe("a fact that was forgotten since");
    expect(reasonOf("beside", {}, { around })).toBe("“I like milk” (5e6f7a8b)");
    expect(reasonOf("beside", {})).toBeUndefined();
  });
});
