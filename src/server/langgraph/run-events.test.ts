import { describe, expect, it } from "vitest";
import { done } from "#src/kernel/envelope.ts";
import type { TurnEvent } from "#src/turns/runner.ts";
import type { TurnReply } from "#src/turns/turn-reply.ts";
import { createRunReader, type RunEvent } from "./run-events.ts";

const reply: TurnReply = {
  outcome: "answered",
  sessionId: "s",
  deliveryId: "d",
  turn: 1,
  status: "completed",
  repeated: false,
  envelope: done("answered", "hello"),
};

function read(...events: RunEvent[]) {
  const told: TurnEvent[] = [];
  const reader = createRunReader((event) => told.push(event));
  for (const event of events) reader.read(event);
  return { told, outcome: reader.outcome() };
}

const message = (content: unknown, more: object = {}): RunEvent => ({
  event: "messages",
  data: [{ type: "ai", content, ...more }, { langgraph_node: "callModel" }],
});

describe("the events of a run", () => {
  it("tell pieces of the answer, and neither whole messages nor empty pieces", () => {
    const { told } = read(
      message("Hel", { tool_call_chunks: [] }),
      message("", { tool_call_chunks: [] }),
      message([{ type: "text", text: "lo" }], { tool_call_chunks: [] }),
      message("a whole message"),
      { event: "messages", data: [{ type: "system", content: "You are lily." }, {}] },
    );
    expect(told).toEqual([
      { type: "token", text: "Hel" },
      { type: "token", text: "lo" },
    ]);
  });

  it("tell notices that come before the answer, and no other message of that step", () => {
    const notice = { content: "No model.", additional_kwargs: { lily: { notice: true } } };
    const { told } = read({
      event: "updates",
      data: { prepareTurn: { messages: [{ content: "not one" }, notice] } },
    });
    expect(told).toEqual([{ type: "notice", text: "No model." }]);
  });

  it("tell tools, and pass over custom events that are nothing of ours", () => {
    const { told } = read(
      { event: "custom", data: { type: "tool", name: "recall_history", secret: 1 } },
      { event: "custom", data: "anything" },
    );
    expect(told).toEqual([{ type: "tool", name: "recall_history" }]);
  });
});

describe("the outcome of a run", () => {
  it("is the reply of the step that gave one", () => {
    const { outcome } = read(
      { event: "updates", data: { admit: { reply: null, handoff: null } } },
      { event: "updates", data: { commit: { reply } } },
    );
    expect(outcome).toEqual({ kind: "reply", reply });
  });

  it("is the hand-off of the step that handed the message on", () => {
    const handoff = { sessionId: "next", message: { id: "d", content: "hello" } };
    expect(read({ event: "updates", data: { handOff: { handoff } } }).outcome).toEqual({
      kind: "handoff",
      ...handoff,
    });
  });

  it("is none when the run was cut off, though its state still has the reply of the run before", () => {
    const { outcome } = read(
      { event: "values", data: { reply } },
      { event: "updates", data: { admit: { reply: null } } },
    );
    expect(outcome).toBeUndefined();
  });

  it("is the error that ended it", () => {
    expect(() => read({ event: "error", data: { error: "Error", message: "the disk is full" } })).toThrow(
      expect.objectContaining({ code: "turn_failed", message: expect.stringContaining("the disk is full") }),
    );
    expect(() => read({ event: "error", data: null })).toThrow(
      expect.objectContaining({ code: "turn_failed" }),
    );
  });
});
