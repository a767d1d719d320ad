import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { END } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { afterAdmit, afterCommand, afterDecision, afterModel, afterTools } from "./edges.ts";
import type { SessionStateValues, TurnInFlight } from "./state.ts";

const user = new HumanMessage({ id: "u1", content: "hi" });
const answer = new AIMessage({ id: "a1", content: "hello" });
const toolCall = { id: "c", name: "f", args: {}, type: "tool_call" as const };
const asking = new AIMessage({ id: "a1", content: "", tool_calls: [toolCall] });
const askingBadly = new AIMessage({
  id: "a1",
  content: "",
  invalid_tool_calls: [{ id: "c", name: "f", args: "{", type: "invalid_tool_call" }],
});
const result = new ToolMessage({ id: "t1", content: "x", tool_call_id: "c" });

function turn(changes: Partial<TurnInFlight> = {}): TurnInFlight {
  return {
    deliveryId: "u1",
    requestId: "r",
    textHash: "t",
    text: "hi",
    startedAt: "2026-03-01T09:00:00.000Z",
    number: 1,
    firstMessageId: "u1",
    command: null,
    outcome: null,
    announcement: null,
    notice: null,
    recalled: [],
    solver: null,
    receipt: null,
    status: "completed",
    stagedUnits: [],
    modelCalls: 0,
    ...changes,
  };
}

/** A state with what an edge looks at; the rest is as at the begin of a conversation. */
function state(changes: Partial<SessionStateValues> = {}): SessionStateValues {
  const values: Partial<SessionStateValues> = {
    messages: [user],
    session: null,
    turn: turn(),
    window: [],
    verdict: null,
    reply: null,
    read: null,
    handoff: null,
    ...changes,
  };
  return values as SessionStateValues;
}

const reply = {} as NonNullable<SessionStateValues["reply"]>;
const read = { deliveryId: "u2", messageId: "u2", name: "status", args: "" };
const title = { name: "title", args: "x", rotates: false };
const rotating = { name: "new", args: "", rotates: true };
const withMessages = (...messages: BaseMessage[]) => state({ messages });

describe("after a message was admitted", () => {
  it.each<[string, SessionStateValues, string]>([
    ["a new message is decided on", state(), "decideRollover"],
    ["a reply ends the run", state({ reply }), END],
    ["a reply ends the run, even beside a turn and a read", state({ reply, read }), END],
    ["no turn ends the run", state({ turn: null }), END],
    ["a read runs at once, beside a turn in flight", state({ read }), "runCommand"],
    ["a read runs without a turn", state({ read, turn: null }), "runCommand"],
    [
      "a command that changes something is looked at",
      state({ turn: turn({ command: title }) }),
      "runCommand",
    ],
    [
      "a command that ends the session is decided on",
      state({ turn: turn({ command: rotating }) }),
      "decideRollover",
    ],
    ["a turn cut off after its answer is committed", withMessages(user, answer), "commit"],
    ["a turn cut off after a tool goes on", withMessages(user, asking, result), "assembleContext"],
    [
      "a turn in which a person is asked about a call goes on with it",
      withMessages(user, asking),
      "runTools",
    ],
    [
      "a turn cut off before an unreadable tool call goes on",
      withMessages(user, askingBadly),
      "assembleContext",
    ],
  ])("%s", (_what, values, next) => {
    expect(afterAdmit(values)).toBe(next);
  });

  it("takes an answer of a committed turn for none of the turn in flight", () => {
    const values = state({
      messages: [user, answer],
      window: [{ turn: 1, messageIds: ["a1"], characters: 5 }],
    });
    expect(afterAdmit(values)).toBe("decideRollover");
  });
});

describe("after a command", () => {
  it("the run ends with a reply, and time may have its say without one", () => {
    expect(afterCommand(state({ reply }))).toBe(END);
    expect(afterCommand(state())).toBe("decideRollover");
  });
});

describe("after the decision", () => {
  const stay = { action: "stay", reason: "empty", idleMs: 0 } as const;
  const rotate = { action: "rotate", trigger: "command", command: "/new" } as const;

  it.each<[string, Partial<SessionStateValues>, string]>([
    ["a session that ends is rotated", { verdict: rotate }, "rotate"],
    [
      "a session that ends is rotated before a command is committed",
      { verdict: rotate, turn: turn({ command: title }) },
      "rotate",
    ],
    ["a message is answered", { verdict: stay }, "assembleContext"],
    ["a command is committed", { verdict: stay, turn: turn({ command: title }) }, "commit"],
    ["a message is answered when nothing was decided", { verdict: null }, "assembleContext"],
  ])("%s", (_what, changes, next) => {
    expect(afterDecision(state(changes))).toBe(next);
  });
});

describe("after the model", () => {
  it.each<[string, SessionStateValues, string]>([
    ["an answer is committed", withMessages(user, answer), "commit"],
    ["tools that it asked for run", withMessages(user, asking), "runTools"],
    [
      "tools that it asked for in a way that cannot be read are answered too",
      withMessages(user, askingBadly),
      "runTools",
    ],
    [
      "no tool runs once the user stopped the turn",
      state({ messages: [user, asking], turn: turn({ status: "stopped" }) }),
      "commit",
    ],
    [
      "no tool runs once a limit ended the turn",
      state({ messages: [user, asking], turn: turn({ status: "limited" }) }),
      "commit",
    ],
    ["a turn without an answer is committed", withMessages(user), "commit"],
  ])("%s", (_what, values, next) => {
    expect(afterModel(values)).toBe(next);
  });
});

describe("after the tools", () => {
  it("the model is called again, unless the user stopped the turn", () => {
    expect(afterTools(state())).toBe("callModel");
    expect(afterTools(state({ turn: turn({ status: "stopped" }) }))).toBe("commit");
  });

  it("the model is asked for its answer when the tool calls are used up", () => {
    const limit = { kind: "toolCalls", used: 24, limit: 24 } as const;
    expect(afterTools(state({ turn: turn({ limit }) }))).toBe("callModel");
  });
});
