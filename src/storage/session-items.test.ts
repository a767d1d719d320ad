import { describe, expect, it } from "vitest";
import { createManualClock } from "#src/kernel/clock.ts";
import { encodeLabel } from "#src/kernel/ids.ts";
import { redactTurn, redactedTurnSchema } from "#src/sessions/redaction.ts";
import { turnRecordSchema, type TurnRecord } from "#src/sessions/turn-record.ts";
import { createMemoryBackend } from "./sqlite/sqlite-backend.ts";
import { createStoreSessionRepository } from "./store-session-repository.ts";
import { fromTurnItem } from "./session-items.ts";

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

/** The same turn as version 0.1.0 stored it, letter for letter. */
const EARLIER = `{"deliveryId":"d1","textHash":"h","at":"${AT}","salt":"s","leaf":"l","head":"h","messages":[{"role":"user","content":"hi","timestamp":"2026-03-01T08:59:58.000Z"},{"role":"assistant","content":"hello"}],"explanation":{"requestId":"r1","receipt":{"budgetTokens":100,"tokens":{"turns":5},"turns":[{"sessionId":"earlier","from":1,"to":2},{"from":1,"to":11}]}}}`;
const EARLIER_MARK = `{"redacted":{"at":"${AT}"},"deliveryId":"d1","at":"${AT}","leaf":"l","head":"h"}`;

describe("a turn in the store", () => {
  it("lies there as it is", async () => {
    const { store } = createMemoryBackend({ clock: createManualClock(0) });
    const ref = { owner: "local", sessionKey: "k", sessionId: record.sessionId };
    await createStoreSessionRepository(store).writeTurn(ref, record);
    expect((await store.get(place.namespace, place.key))?.value).toEqual(record);
    expect(fromTurnItem(record, place)).toEqual(record);
  });

  it("is read as earlier versions stored it, without what its place says", () => {
    expect(turnRecordSchema.parse(fromTurnItem(JSON.parse(EARLIER), place))).toEqual(record);
    const command = { ...(JSON.parse(EARLIER) as object), kind: "command", status: "stopped" };
    expect(fromTurnItem(command, place)).toMatchObject({ kind: "command", status: "stopped", reply: {} });
  });

  it("is read where it was erased, in both forms", () => {
    const mark = redactTurn(record, AT);
    expect(redactedTurnSchema.parse(fromTurnItem(mark, place))).toEqual(mark);
    expect(redactedTurnSchema.parse(fromTurnItem(JSON.parse(EARLIER_MARK), place))).toEqual(mark);
  });

  it.each([[null], ["text"], [[]], [{ messages: "none" }], [{ messages: [1], explanation: [] }]])(
    "leaves what is no turn to the schema: %j",
    (item) => {
      expect(turnRecordSchema.safeParse(fromTurnItem(item, place)).success).toBe(false);
    },
  );
});
