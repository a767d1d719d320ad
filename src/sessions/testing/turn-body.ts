/** Turns for tests: nothing was said in them but what a test gives. */
import type { TurnBody, TurnRecord } from "../turn-record.ts";

/** A turn's body; the first of session `s1` unless `changes` say otherwise. */
export function turnBody(changes: Partial<TurnBody> = {}): TurnBody {
  const { turn = 1 } = changes;
  return {
    v: 1,
    sessionId: "s1",
    turn,
    kind: "chat",
    status: "completed",
    deliveryId: `d${turn}`,
    textHash: "h",
    at: "2026-03-01T09:00:00.000Z",
    messages: [],
    reply: {},
    explanation: { requestId: "r" },
    ...changes,
  };
}

/** The same with a place in no hash chain, for what does not look at it. */
export function turnRecord(changes: Partial<TurnBody> = {}): TurnRecord {
  return { ...turnBody(changes), salt: "s", leaf: "l", head: "h" };
}
