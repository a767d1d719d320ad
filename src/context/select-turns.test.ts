import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Message } from "#src/sessions/message.ts";
import { turnRecord } from "#src/sessions/testing/turn-body.ts";
import type { TurnBody, TurnRecord } from "#src/sessions/turn-record.ts";
import {
  contextMessages,
  contextTokens,
  messageTokens,
  selectTurns,
  type SelectedTurns,
} from "./select-turns.ts";

const AT = "2026-03-01T09:00:00.000Z";
const user = (content: string): Message => ({ role: "user", content, timestamp: AT });
const assistant = (content: string): Message => ({ role: "assistant", content, timestamp: AT });

const turnOf = (turn: number, messages: Message[], changes: Partial<TurnBody> = {}): TurnRecord =>
  turnRecord({ turn, at: AT, messages, ...changes });

async function* streamOf(turns: readonly TurnRecord[]): AsyncGenerator<TurnRecord[]> {
  for (let at = 0; at < turns.length; at += 2) yield turns.slice(at, at + 2);
}

/** A turn that costs `tokens`, at least 5: one user message. */
const costing = (turn: number, tokens: number, changes: Partial<TurnBody> = {}): TurnRecord =>
  turnOf(turn, [user("猫".repeat(tokens - 4))], changes);

/** Chooses of `newestFirst`. */
const select = (newestFirst: AsyncIterable<readonly TurnRecord[]>, budget: number) =>
  selectTurns(newestFirst, budget, contextTokens);

/** First and last of the turns that were chosen. */
const numbers = ({ ranges }: SelectedTurns): number[] => ranges.flatMap(({ from, to }) => [from, to]);

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

describe("choosing turns for a model", () => {
  it("gives them oldest first", async () => {
    const selected = await select(streamOf([costing(3, 10), costing(2, 10), costing(1, 10)]), 100);
    expect(numbers(selected)).toEqual([1, 3]);
    expect(selected.tokens).toBe(30);
  });

  it("takes a turn that fits exactly and leaves out one that is a token too dear", async () => {
    expect(numbers(await select(streamOf([costing(2, 10), costing(1, 10)]), 20))).toEqual([1, 2]);
    expect(numbers(await select(streamOf([costing(2, 10), costing(1, 10)]), 19))).toEqual([2, 2]);
  });

  it("stops at the first that does not fit, so that no turn is missing in between", async () => {
    const selected = await select(streamOf([costing(3, 10), costing(2, 500), costing(1, 5)]), 100);
    expect(numbers(selected)).toEqual([3, 3]);
  });

  it("gives nothing when even the newest does not fit", async () => {
    expect(await select(streamOf([costing(1, 50)]), 49)).toEqual({ tokens: 0, ranges: [] });
  });

  it.each([0, -1])("gives nothing for a budget of %i", async (budget) => {
    expect(numbers(await select(streamOf([costing(1, 5)]), budget))).toEqual([]);
  });

  it("reads no further than the first turn that does not fit", async () => {
    let read = 0;
    async function* counted(): AsyncGenerator<TurnRecord[]> {
      for (;;) {
        read += 1;
        yield [costing(1000 - read, 10)];
      }
    }
    await select(counted(), 35);
    expect(read).toBe(4);
  });

  it("steps over commands, which cost nothing", async () => {
    const command = costing(2, 1000, { kind: "command" });
    const selected = await select(streamOf([costing(3, 10), command, costing(1, 10)]), 20);
    expect(numbers(selected)).toEqual([1, 3]);
  });

  it("says which turns of which session were given", async () => {
    const other = { sessionId: "s0" };
    const newestFirst = [costing(2, 5), costing(1, 5), costing(9, 5, other), costing(8, 5, other)];
    expect((await select(streamOf(newestFirst), 100)).ranges).toEqual([
      { sessionId: "s0", from: 8, to: 9 },
      { sessionId: "s1", from: 1, to: 2 },
    ]);
  });

  it("gives the longest run of newest turns within the budget, and never more than it", async () => {
    const costs = fc.array(fc.integer({ min: 5, max: 40 }), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(costs, fc.integer({ min: 0, max: 200 }), async (list, budget) => {
        const newestFirst = list.map((cost, index) => costing(list.length - index, cost));
        const selected = await select(streamOf(newestFirst), budget);
        expect(selected.tokens).toBeLessThanOrEqual(budget);
        const [first = 1, last = 0] = numbers(selected);
        const length = last - first + 1;
        expect(last === 0 || last === list.length).toBe(true);
        const next = list[length];
        if (next !== undefined) expect(selected.tokens + next).toBeGreaterThan(budget);
      }),
    );
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

  it("counts the remark about a stop in what the turn costs", async () => {
    const stopped = await select(streamOf([turnOf(1, messages, { status: "stopped" })]), 1000);
    const completed = await select(streamOf([turnOf(1, messages)]), 1000);
    expect(stopped.tokens).toBeGreaterThan(completed.tokens);
  });

  it("is nothing of calls and results that do not pair, in a turn that was changed by hand", () => {
    const call = (id: string) => ({ id, name: "find", arguments: "{}" });
    const asking = { ...assistant("I look"), toolCalls: [call("c1"), call("c2")] };
    const result = (toolCallId: string): Message => ({
      role: "tool",
      content: "x",
      toolCallId,
      timestamp: AT,
    });
    const turn = turnOf(1, [user("hi"), asking, result("c2"), result("c3"), assistant("done")]);
    expect(contextMessages(turn)).toEqual([
      user("hi"),
      { ...asking, toolCalls: [call("c2")] },
      result("c2"),
      assistant("done"),
    ]);
  });
});
