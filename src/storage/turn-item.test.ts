import { describe, expect, it } from "vitest";
import { turnRecordSchema, type TurnRecord } from "#src/sessions/turn-record.ts";
import { encodeLabel } from "#src/kernel/namespace-label.ts";
import { fromTurnItem, toTurnItem } from "./turn-item.ts";

const AT = "2026-03-01T09:00:00.000Z";
const record: TurnRecord = {
  v: 1,
  sessionId: "a.b:c/ü",
  turn: 12,
  kind: "chat",
  status: "completed",
  deliveryId: "d1",
  textHash: "h",
  at: AT,
  messages: [
    { role: "user", content: "hi", timestamp: "2026-03-01T08:59:58.000Z" },
    { role: "assistant", content: "hello", timestamp: AT },
  ],
  reply: {},
  explanation: {
    requestId: "r1",
    receipt: {
      budgetTokens: 100,
      tokens: { turns: 5 },
      turns: [
        { sessionId: "earlier", from: 1, to: 2 },
        { sessionId: "a.b:c/ü", from: 1, to: 11 },
      ],
    },
  },
  salt: "s",
  leaf: "l",
  head: "h",
};
const place = { namespace: ["history", "local", "k", encodeLabel(record.sessionId)], key: "00000012" };

describe("a turn in the store", () => {
  it.each([
    ["an ordinary one", record],
    [
      "a stopped command with a notice",
      { ...record, kind: "command", status: "stopped", reply: { notice: "n" } },
    ],
    ["one without a receipt", { ...record, explanation: { requestId: "r" } }],
  ] as [string, TurnRecord][])("comes back as it was: %s", (_what, stored) => {
    const item: unknown = JSON.parse(JSON.stringify(toTurnItem(stored)));
    expect(turnRecordSchema.parse(fromTurnItem(item, place))).toEqual(stored);
  });

  it("does not say again where it lies, nor what is usual", () => {
    const text = JSON.stringify(toTurnItem(record));
    expect(text).not.toContain(record.sessionId);
    expect(text.split(AT)).toHaveLength(2);
    expect(Object.keys(toTurnItem(record)).toSorted()).toEqual(
      ["at", "deliveryId", "explanation", "head", "leaf", "messages", "salt", "textHash"].toSorted(),
    );
  });

  it("is read in the complete form in which earlier versions stored it", () => {
    expect(turnRecordSchema.parse(fromTurnItem(record, place))).toEqual(record);
  });

  it.each([[null], ["text"], [[]], [{ messages: "none" }], [{ messages: [1], explanation: [] }]])(
    "leaves what is no turn to the schema: %j",
    (item) => {
      expect(turnRecordSchema.safeParse(fromTurnItem(item, place)).success).toBe(false);
    },
  );
});
