import { describe, expect, it } from "vitest";
import type { FailedAttempt, TurnRecord } from "#src/sessions/turn-record.ts";
import { answererText, answerReasons, attemptsText } from "./explain-turn.ts";

const AT = "2026-03-01T09:00:00.000Z";

function turn(changes: Partial<TurnRecord> = {}): TurnRecord {
  return {
    v: 1,
    sessionId: "s",
    turn: 1,
    kind: "chat",
    status: "completed",
    deliveryId: "d",
    textHash: "h",
    at: AT,
    messages: [{ role: "user", content: "hello", timestamp: AT }],
    reply: {},
    explanation: { requestId: "r", solver: "openai:a" },
    salt: "salt",
    leaf: "leaf",
    head: "head",
    ...changes,
  };
}

const failed = (model: string, kind: string, minute = 0): FailedAttempt => ({
  model,
  kind,
  at: `2026-03-01T09:0${minute}:00.000Z`,
});

const telling = { nowMs: 0, timeZone: "UTC", nameOf: (id: string) => id };

describe("who answered", () => {
  it.each<[Partial<TurnRecord>, string]>([
    [{}, "openai:a answered"],
    [
      { explanation: { requestId: "r", solver: "symbolic" } },
      "the built-in solver answered, without a model",
    ],
    [{ explanation: { requestId: "r" } }, "no model was asked"],
    [{ kind: "command" }, "a command; no model was asked"],
    [{ status: "stopped" }, "openai:a answered, until it was stopped; what there was is kept"],
    [{ status: "limited" }, "openai:a answered, and a limit ended the turn"],
    [{ status: "interrupted" }, "openai:a answered, but the program ended before the answer was complete"],
  ])("is told of %j", (changes, text) => {
    expect(answererText(turn(changes))).toBe(text);
  });
});

describe("calls that failed", () => {
  it("are counted by model and kind, with the time of the last", () => {
    const attempts = [failed("a", "timeout"), failed("a", "timeout", 2), failed("b", "rate_limit", 3)];
    expect(attemptsText(attempts, "UTC")).toBe(
      "a 2 times (timeout), the last at 2026-03-01 09:02; b once (rate_limit), at 2026-03-01 09:03",
    );
    expect(attemptsText([], "UTC")).toBe("");
  });

  it("of the model that answered in the end were answered in place of by nobody", () => {
    const explanation = { requestId: "r", solver: "openai:a", attempts: [failed("openai:a", "timeout")] };
    expect(answerReasons(turn({ explanation }), telling).map(({ about }) => about)).toEqual(["failed calls"]);
  });
});

describe("D-5 an answer that was cut", () => {
  it.each(["length", "content_filter"] as const)("tells the finish reason %s", (cut) => {
    const [reason] = answerReasons(turn({ explanation: { requestId: "r", cut } }), telling);
    expect(reason).toEqual({
      about: "cut",
      text: expect.stringContaining(`finish reason ${cut}`) as unknown,
    });
  });
});

describe("a limit", () => {
  it.each([
    ["modelCalls", "8 of 8 model calls were used; limits.modelCalls raises it"],
    ["toolCalls", "8 of 8 tool calls were used; limits.toolCalls raises it"],
    ["tokens", "8 of 8 tokens were used; limits.turnTokens raises it"],
    ["time", "8 of 8 ms were used; limits.turnMs raises it"],
  ] as const)("of %s is told with the setting that raises it", (kind, text) => {
    const explanation = { requestId: "r", limit: { kind, used: 8, limit: 8 } };
    expect(answerReasons(turn({ explanation }), telling)).toEqual([{ about: "limit", text }]);
  });
});
