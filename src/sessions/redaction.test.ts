import { describe, expect, it } from "vitest";
import {
  deliveryIdsOf,
  isRedacted,
  redactedTurnSchema,
  redactTurn,
  wholeTurns,
  type RedactedTurn,
} from "./redaction.ts";
import { EMPTY_HEAD, linkTurn } from "./seal.ts";
import type { SessionChanges } from "./session-changes.ts";
import { turnRecordSchema, type TurnBody, type TurnRecord } from "./turn-record.ts";

const AT = "2026-03-01T09:00:00.000Z";
const LATER = "2026-04-01T09:00:00.000Z";

/** A turn in which every text says "pear", and that has every optional part. */
function turnOf(changes: Partial<TurnBody> = {}): TurnRecord {
  const body: TurnBody = {
    v: 1,
    sessionId: "s1",
    turn: 3,
    kind: "command",
    status: "stopped",
    deliveryId: "d3",
    textHash: "hash of pear",
    collected: [{ deliveryId: "d4", textHash: "another hash of pear" }],
    at: AT,
    messages: [
      {
        role: "user",
        content: "pear",
        attachments: [{ kind: "image", url: "https://example.org/pear.png" }],
        timestamp: AT,
      },
      {
        role: "assistant",
        content: "pear",
        toolCalls: [{ id: "c", name: "pear", arguments: '{"pear":1}' }],
        timestamp: AT,
      },
    ],
    units: [{ role: "Fact", topic: "pear", claim: "pear" }],
    changes: { title: "pear", task: "pear", model: "openai:x", contextFrom: 2 },
    reply: { announcement: "pear", notice: "pear", envelope: { ok: true, code: "x", message: "pear" } },
    explanation: {
      requestId: "r",
      recalled: [{ sessionId: "s0", turn: 1, at: AT, score: 1, rationale: "pear" }],
    },
    ...changes,
  };
  return linkTurn(body, { head: EMPTY_HEAD, salt: "salt" });
}

describe("the mark of an erased turn", () => {
  const record = turnOf();
  const mark = redactTurn(record, LATER);

  it("keeps its number, deliveries, time, place in the hash chain and what it changed but texts", () => {
    expect(mark).toEqual({
      v: 1,
      sessionId: "s1",
      turn: 3,
      redacted: { at: LATER },
      kind: "command",
      deliveryId: "d3",
      collected: [{ deliveryId: "d4" }],
      at: AT,
      changes: { task: null, model: null, contextFrom: 2 },
      leaf: record.leaf,
      head: record.head,
    });
    expect(redactedTurnSchema.parse(mark)).toEqual(mark);
  });

  it("says nothing of what was said, and has no salt with which a guess could be tried", () => {
    expect(turnRecordSchema.parse(record)).toEqual(record);
    expect(JSON.stringify(mark)).not.toMatch(/pear|salt|textHash|openai/u);
  });

  it("is not taken for a turn, nor a turn for a mark", () => {
    expect([isRedacted(mark), isRedacted(record)]).toEqual([true, false]);
    expect(wholeTurns([record, mark])).toEqual([record]);
    expect(turnRecordSchema.safeParse(mark).success).toBe(false);
    expect(redactedTurnSchema.safeParse(record).success).toBe(false);
  });

  it("leaves the turn that it was made of as it was", () => {
    const frozen = Object.freeze(turnOf());
    redactTurn(frozen, LATER);
    expect(frozen).toEqual(turnOf());
  });

  it.each<[string, SessionChanges | undefined, RedactedTurn["changes"]]>([
    ["nothing", undefined, undefined],
    ["a title", { title: "pear" }, undefined],
    ["a task that was taken up", { task: "pear" }, { task: null }],
    ["a task that was left", { task: null }, { task: null }],
    ["R-6: the model", { model: "openai:x" }, { model: null }],
    ["R-6: the control model", { controlModel: "openai:x" }, { controlModel: null }],
    ["the model, back to the configured one", { model: null }, { model: null }],
    ["where the context begins", { contextFrom: 4 }, { contextFrom: 4 }],
    ["rollover rules", { rollover: { idle: { limit: 5_000 } } }, { rollover: { idle: { limit: 5_000 } } }],
    ["the control model and a title", { controlModel: "built-in", title: "pear" }, { controlModel: null }],
  ])("of a turn that changed %s keeps of it what is no text", (_what, changes, kept) => {
    const { changes: _changes, ...unchanged } = turnOf();
    const turn = changes === undefined ? unchanged : { ...unchanged, changes };
    expect(redactTurn(turn, LATER).changes).toEqual(kept);
  });

  it("names the same deliveries as the turn did", () => {
    expect(deliveryIdsOf(mark)).toEqual(["d3", "d4"]);
    expect(deliveryIdsOf(record)).toEqual(["d3", "d4"]);
    const { collected: _collected, ...alone } = record;
    expect(deliveryIdsOf(redactTurn(alone, LATER))).toEqual(["d3"]);
  });
});
