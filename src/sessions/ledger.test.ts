import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  closeInLedger,
  foldLedger,
  joinLedgers,
  LEDGER_ENTRIES,
  ledgerText,
  noteInLedger,
  openEntries,
  withoutWords,
  type Ledger,
  type LedgerChange,
} from "./ledger.ts";

/** The ledger of turns of which each notes one task with these texts. */
function notedIn(texts: readonly string[]): Ledger {
  return texts.reduce<Ledger>(
    (ledger, text, index) => {
      const verdict = noteInLedger(ledger, { kind: "task", text });
      return foldLedger(ledger, verdict.kind === "change" ? [verdict.change] : [], index + 1);
    },
    { highest: 0, entries: [] },
  );
}

const texts = (count: number): string[] => Array.from({ length: count }, (_, index) => `task ${index + 1}`);

describe("the ledger", () => {
  it("numbers entries in the order in which they are noted, and names the turn of each", () => {
    expect(notedIn(["call Anna", "book BA117"])).toEqual({
      highest: 2,
      entries: [
        { number: 1, kind: "task", text: "call Anna", turn: 1 },
        { number: 2, kind: "task", text: "book BA117", turn: 2 },
      ],
    });
  });

  it("does not note twice what is open in the same words, and does again once it was closed", () => {
    const ledger = notedIn(["call Anna"]);
    expect(noteInLedger(ledger, { kind: "task", text: "call Anna" })).toMatchObject({ kind: "known" });
    expect(noteInLedger(ledger, { kind: "decision", text: "call Anna" })).toMatchObject({ kind: "change" });
    const closed = foldLedger(ledger, [{ op: "close", number: 1 }], 2);
    expect(noteInLedger(closed, { kind: "task", text: "call Anna" })).toMatchObject({
      kind: "change",
      change: { number: 2 },
    });
  });

  it("holds 40 entries: closed ones give way, oldest first, and what is open never does", () => {
    const full = notedIn(texts(LEDGER_ENTRIES));
    expect(noteInLedger(full, { kind: "task", text: "one more" })).toEqual({ kind: "full" });
    const roomy = foldLedger(full, [{ op: "close", number: 7 }], 41);
    const verdict = noteInLedger(roomy, { kind: "task", text: "one more" });
    expect(verdict).toMatchObject({ kind: "change", change: { number: 41 } });
    const after = foldLedger(roomy, verdict.kind === "change" ? [verdict.change] : [], 42);
    expect(after.entries).toHaveLength(LEDGER_ENTRIES);
    expect(after.entries.map(({ number }) => number)).not.toContain(7);
    expect(openEntries(after)).toHaveLength(LEDGER_ENTRIES);
  });

  it("closes what is open, of its kind alone", () => {
    const ledger = notedIn(["call Anna"]);
    expect(closeInLedger(ledger, 1, "decision")).toEqual({ kind: "missing" });
    expect(closeInLedger(ledger, 2)).toEqual({ kind: "missing" });
    expect(closeInLedger(foldLedger(ledger, [{ op: "close", number: 1 }], 2), 1)).toEqual({
      kind: "missing",
    });
  });

  it("loses the words of an erased turn alone: every other entry keeps its number and its state", () => {
    const kinds = fc.constantFrom("task" as const, "decision" as const);
    const steps = fc.array(
      fc.oneof(fc.record({ kind: kinds, text: fc.string({ minLength: 1 }) }), fc.nat({ max: 12 })),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(steps, fc.nat(), (steps, pick) => {
        let ledger: Ledger = { highest: 0, entries: [] };
        const turns: LedgerChange[][] = steps.map((step, index) => {
          const verdict = typeof step === "number" ? closeInLedger(ledger, step) : noteInLedger(ledger, step);
          const changes = verdict.kind === "change" ? [verdict.change] : [];
          ledger = foldLedger(ledger, changes, index + 1);
          return changes;
        });
        const erased = pick % Math.max(1, turns.length);
        const again = turns
          .map((changes, index) => (index === erased ? withoutWords(changes) : changes))
          .reduce<Ledger>((before, changes, index) => foldLedger(before, changes, index + 1), {
            highest: 0,
            entries: [],
          });
        expect(again.highest).toBe(ledger.highest);
        expect(again.entries).toEqual(ledger.entries.filter(({ turn }) => turn !== erased + 1));
      }),
    );
  });

  it("of sessions that one continues is theirs in order, each entry with where it was noted", () => {
    const joined = joinLedgers([
      { sessionId: "a", ledger: notedIn(["one", "two"]) },
      { sessionId: "b", ledger: notedIn(["three"]) },
    ]);
    expect(joined.entries.map(({ number, sessionId, text }) => [number, sessionId, text])).toEqual([
      [1, "a", "one"],
      [2, "a", "two"],
      [3, "b", "three"],
    ]);
  });

  it("takes one line of at most 240 characters", () => {
    expect(ledgerText(" call\n Anna ")).toBe("call Anna");
    expect(ledgerText("🦊".repeat(240))).toBe("🦊".repeat(240));
    expect([ledgerText("🦊".repeat(241)), ledgerText(" \n")]).toEqual([undefined, undefined]);
  });
});
