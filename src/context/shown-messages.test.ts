import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Message } from "#src/sessions/message.ts";
import { turnRecord } from "#src/sessions/testing/turn-body.ts";
import type { TurnBody, TurnRecord } from "#src/sessions/turn-record.ts";
import {
  collapsedMessages,
  contextMessages,
  messagesTokens,
  messageTokens,
  nameResults,
  parseResultName,
  shortenedMessages,
  stepMessages,
  stepsOf,
} from "./shown-messages.ts";

const AT = "2026-03-01T09:00:00.000Z";
const user = (content: string): Message => ({ role: "user", content, timestamp: AT });
const assistant = (content: string): Message => ({ role: "assistant", content, timestamp: AT });

const turnOf = (turn: number, messages: Message[], changes: Partial<TurnBody> = {}): TurnRecord =>
  turnRecord({ turn, at: AT, messages, ...changes });

describe("the cost of a message", () => {
  it("is its text and four tokens more", () => {
    expect(messageTokens(user(""))).toBe(4);
    expect(messageTokens(user("你好"))).toBe(6);
  });

  it("has the names and arguments of its tool calls", () => {
    const toolCalls = [{ id: "c", name: "find", arguments: "{}xx" }];
    expect(messageTokens({ content: "", toolCalls })).toBe(6);
  });
});

describe("what a model is shown of a turn", () => {
  const messages = [user("hi"), assistant("half an ans")];
  const recalled = [{ sessionId: "s0", turn: 1, at: AT, score: 1, rationale: "why" }];

  it("is all of its messages", () => {
    expect(contextMessages(turnOf(1, messages))).toEqual(messages);
  });

  it("is nothing of a command", () => {
    expect(contextMessages(turnOf(1, messages, { kind: "command" }))).toEqual([]);
  });

  it("is everything of a command that recalled something", () => {
    const turn = turnOf(1, messages, { kind: "command", explanation: { requestId: "r", recalled } });
    expect(contextMessages(turn)).toEqual(messages);
  });

  it("says of an answer that it was stopped, without changing the record", () => {
    const turn = turnOf(1, messages, { status: "stopped" });
    expect(contextMessages(turn)[1]?.content).toBe("half an ans [the user stopped this answer]");
    expect(turn.messages[1]?.content).toBe("half an ans");
  });

  it("says so of an answer that had not begun, without white space before it", () => {
    const turn = turnOf(1, [user("hi"), assistant("")], { status: "stopped" });
    expect(contextMessages(turn)[1]?.content).toBe("[the user stopped this answer]");
  });

  it("leaves the user's message alone when there was no answer to stop", () => {
    expect(contextMessages(turnOf(1, [user("hi")], { status: "stopped" }))).toEqual([user("hi")]);
  });
});

const call = (id: string) => ({ id, name: "find", arguments: "{}" });
const asking = (...ids: string[]): Message => ({ ...assistant(""), toolCalls: ids.map(call) });
const result = (toolCallId: string, content: string): Message => ({
  role: "tool",
  content,
  toolCallId,
  timestamp: AT,
});
const REF = { sessionId: "00000000-0000-7000-8000-00000000000a", turn: 7 };

describe("a result as a line", () => {
  const messages = [user("go"), asking("a", "b"), result("a", "x".repeat(900)), result("b", "short")];

  it("C-2 says which tool it is of, how long it is, and the name that read_result takes", () => {
    const [, , long, short] = collapsedMessages(messages, nameResults(messages, REF));
    expect(long?.content).toBe(
      "[result of find left out: 900 characters; read_result reads it by the name 00000000000a.7.1]",
    );
    expect(short?.content).toBe("short");
    expect(parseResultName("00000000000a.7.1")).toEqual({ sessionEnd: "00000000000a", turn: 7, count: 1 });
    expect(parseResultName("f".repeat(64))).toBeUndefined();
  });

  it("is of the last call with its id, as some servers number the calls of each message anew", () => {
    const again = [
      ...messages,
      { ...asking("a"), toolCalls: [{ ...call("a"), name: "look" }] },
      result("a", "y"),
    ];
    const { toolOf } = nameResults(again, REF);
    expect(again.filter(({ role }) => role === "tool").map(toolOf)).toEqual(["find", "find", "look"]);
  });
});

describe("a turn in its shortened form", () => {
  it("has what was asked and answered, and says how many tool calls are left out", () => {
    const turn = [user("q".repeat(4_000)), asking("a"), result("a", "r"), assistant("w".repeat(4_000))];
    const short = shortenedMessages(turn, 100);
    expect(short.map(({ role }) => role)).toEqual(["user", "assistant"]);
    expect(short[0]?.content).toMatch(/^q+\n\[… \d+ characters left out …\]\nq+$/u);
    expect(short[1]?.content).toMatch(/^\[1 tool call left out\]\nw+/u);
  });

  it("stays within its tokens", () => {
    const text = fc.string({ unit: fc.constantFrom("a", " ", "\n", "猫", "👩‍👩‍👧", "```\n"), maxLength: 2_000 });
    fc.assert(
      fc.property(text, text, fc.integer({ min: 60, max: 300 }), (asked, answered, tokens) => {
        const short = shortenedMessages([user(asked), assistant(answered)], tokens);
        expect(messagesTokens(short)).toBeLessThanOrEqual(tokens);
      }),
    );
  });
});

describe("the steps of the turn in flight", () => {
  const long = "x".repeat(4_000);
  const messages = ["a", "b", "c"].flatMap((id) => [asking(id), result(id, long)]);
  const given = (out: number, collapsed: number, resultTokens?: number): string[] =>
    stepMessages(
      stepsOf(messages),
      { out, collapsed, ...(resultTokens === undefined ? {} : { resultTokens }) },
      nameResults(messages, REF),
    ).flatMap(({ role, content }) => (role === "tool" ? [content] : []));

  it("are left out, or their results collapsed, from the oldest on, a call never without its results", () => {
    expect(given(0, 0)).toEqual([long, long, long]);
    expect(given(1, 1)).toEqual([expect.stringMatching(/^\[result of find left out.*a\.7\.2\]$/u), long]);
  });

  it("end in a result that is cut to what fits, with the name and place from which it is read on", () => {
    const [, , last = ""] = given(0, 2, 200);
    expect(last).toMatch(
      /^x+\n\[characters 0 to (\d+) of 4000; read_result reads on by the name \w+\.7\.3 from \1\]$/u,
    );
    expect(messageTokens({ content: last })).toBeLessThanOrEqual(200);
  });
});
