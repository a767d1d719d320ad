import { describe, expect, it } from "vitest";
import { memoryRecord } from "#memory/testing/memory-record.ts";
import type { ImportReport } from "#memory/facts/types.ts";
import { nextOf, noneReadable, reportText, unreadable } from "./import-report.ts";

const EMPTY: ImportReport = {
  added: 0,
  known: 0,
  quarantined: 0,
  forgotten: 0,
  conflicts: 0,
  denied: [],
  invalid: [],
};
const RECORD = memoryRecord({ id: "0d0b3f3e-3b6f-5b39-9a8e-2f0f7d1c1a11", text: "I like tea" });
const { created_at: _missing, ...UNDATED } = RECORD;

describe("a record of a file that cannot be read", () => {
  it.each([
    ["of a newer version", { ...RECORD, schema_version: 2 }, "a newer Lily wrote it"],
    ["without a date", UNDATED, "created_at is missing"],
    [
      "with a date without a zone",
      { ...RECORD, expires_at: "2027-01-01T00:00:00" },
      "expires_at is no time such as 2026-01-31T08:00:00.000Z",
    ],
    ["with a wrong value", { ...RECORD, confidence: 7 }, "confidence is not as it has to be"],
    [
      "with a NUL, beside which PostgreSQL finds nothing",
      { ...RECORD, session_id: "a\u0000b" },
      "session_id is not as it has to be",
    ],
    ["with a field of somebody else's", { ...RECORD, owner: "bob" }, "no record has a field owner"],
    ["with a text for a field", { ...RECORD, "my pin is": 1 }, "it has a field that no record has"],
    ["that is none", "I like tea", "it is no record"],
    ["that only the store refuses", RECORD, "the store's reason"],
  ])("%s is told of in words", (_name, raw, reason) => {
    const invalid = [{ index: 0, reason: "the store's reason" }];
    expect(unreadable({ invalid }, [raw])).toEqual([{ index: 0, reason }]);
  });
});

describe("the report of an import", () => {
  it("says of the first records that did not come in which they are and why", () => {
    const invalid = [0, 4, 5, 6].map((index) => ({ index, reason: "it is no record" }));
    const denied = [{ index: 2, denial: { rule: "password", message: "", next: "" } }] as const;
    expect(reportText({ ...EMPTY, added: 3, denied, invalid }, invalid)).toBe(
      "3 new, 1 refused by the policy (the text holds a password or PIN: record 3), 4 not readable (it is no " +
        "record: records 1, 5, 6 and 1 more).",
    );
    expect(nextOf({ ...EMPTY, invalid })).toContain("correct these in the file and import it again");
  });

  it("says that new facts do not agree with what is remembered, and what lists them", () => {
    const report = { ...EMPTY, added: 2, conflicts: 1 };
    expect(reportText(report, [])).toBe(
      "2 new. 1 of the new ones does not agree with what is remembered, and both are kept.",
    );
    expect(nextOf(report)).toBe("/memory conflicts lists what does not agree.");
  });

  it("is a refusal of the whole file when no record of it can be read", () => {
    const invalid = [{ index: 0, reason: "a newer Lily wrote it" }];
    expect(noneReadable({ ...EMPTY, invalid }, invalid)).toBe(
      "no record of it can be read (a newer Lily wrote it: record 1)",
    );
    expect(noneReadable({ ...EMPTY, known: 1, invalid }, invalid)).toBeUndefined();
    expect(noneReadable(EMPTY, [])).toBeUndefined();
  });

  it("of a file without facts says so", () => {
    expect(reportText(EMPTY, [])).toBe("The file holds no facts.");
    expect(nextOf(EMPTY)).toBeUndefined();
  });
});
