import { describe, expect, it } from "vitest";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { ScriptedChatModel } from "#src/models/scripted-chat-model.ts";
import { verifyOwner } from "#src/sessions/verify.ts";
import { echoModel, inputOf, KEY, OWNER, type Harness } from "./testing/harness.ts";
import { failingPuts } from "./testing/failing-store.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();
const call = (name: string, args: object = { query: "x", rationale: "y" }, id = "c1") => ({
  toolCalls: [{ id, name, args: { ...args } }],
});

async function failuresOf(lily: Harness, sessionId: string) {
  return lily.sessions.repository.readFailures({ owner: OWNER, sessionKey: KEY, sessionId });
}

describe("a turn that fails", () => {
  it("leaves no assistant text and no message, is explained, and its delivery may come again", async () => {
    const model = new ScriptedChatModel((_messages, index) =>
      index === 1 ? { text: "half an ans", error: new Error("boom") } : "fine",
    );
    const lily = await start({ model });
    const first = await lily.send("one");
    const failed = await lily.send("two", { deliveryId: "d2" });
    expect(failed).toMatchObject({
      outcome: "failed",
      turn: null,
      envelope: { ok: false, code: "model_failed" },
    });
    expect(failed.envelope.next).toBeTruthy();
    expect(await lily.turns(first.sessionId)).toHaveLength(1);
    expect(await failuresOf(lily, first.sessionId)).toMatchObject([
      { deliveryId: "d2", text: "two", code: "model_failed", node: "callModel" },
    ]);
    const again = await lily.send("two", { deliveryId: "d2" });
    expect(again).toMatchObject({ outcome: "answered", repeated: false, turn: 2 });
    expect(inputOf(model)).toEqual(["human: one", "ai: fine", "human: two"]);
  });

  it("retries a model that is overloaded, within bounds, and says so when it stays so", async () => {
    const overloaded = Object.assign(new Error("overloaded"), { status: 529 });
    const model = new ScriptedChatModel((_messages, index) =>
      index < 1 ? { error: overloaded } : index < 2 ? "back" : { error: overloaded },
    );
    const lily = await start({ model });
    expect((await lily.send("one")).envelope.message).toBe("back");
    expect(await lily.send("two")).toMatchObject({ outcome: "failed", envelope: { code: "model_failed" } });
    expect(model.calls.length).toBeLessThanOrEqual(6);
  });

  it.each([
    ["the turn record", "history"],
    ["the delivery", "deliveries"],
    ["the chain, on first contact", "sessions"],
    ["the session index, on first contact", "session-index"],
  ])("is told and changes nothing when the write of %s fails before it is made", async (_what, label) => {
    const failing = failingPuts((namespace) => namespace[0] === label);
    const lily = await start({ model: echoModel(), wrapStorage: failing.wrap });
    const isFirstContact = label === "sessions" || label === "session-index";
    if (!isFirstContact) await lily.send("before");
    failing.arm();
    const failed = await lily.send("hello", { deliveryId: "d" });
    expect(failed).toMatchObject({ outcome: "failed", envelope: { code: "storage_full" } });
    failing.disarm();
    const again = await lily.send("hello", { deliveryId: "d" });
    expect(again).toMatchObject({ outcome: "answered", repeated: false, turn: isFirstContact ? 1 : 2 });
    expect(await verifyOwner(lily.sessions.repository, OWNER)).toMatchObject({ ok: true });
  });

  it("is answered from the record when the write of the record was made but reported as failed", async () => {
    const failing = failingPuts((namespace) => namespace[0] === "history");
    const model = echoModel();
    const lily = await start({ model, wrapStorage: failing.wrap });
    await lily.send("before");
    failing.arm("after");
    expect((await lily.send("hello", { deliveryId: "d" })).outcome).toBe("failed");
    failing.disarm();
    const again = await lily.send("hello", { deliveryId: "d" });
    expect(again).toMatchObject({ outcome: "answered", repeated: true, turn: 2 });
    expect(await lily.send("next")).toMatchObject({ turn: 3 });
    expect(inputOf(model)).toEqual([
      "human: before",
      "ai: before",
      "human: hello",
      "ai: hello",
      "human: next",
    ]);
    expect(await verifyOwner(lily.sessions.repository, OWNER)).toMatchObject({ ok: true, turns: 3 });
    const { values } = await lily.sessions.graph.getState({ configurable: { thread_id: again.sessionId } });
    const shown = values.messages.map((message: { text: string }) => message.text);
    expect(shown).toEqual(["before", "before", "hello", "hello", "next", "next"]);
  });

  it("has moved latest once when the chain of a rotation was written but reported as failed", async () => {
    const failing = failingPuts((namespace) => namespace[0] === "sessions");
    const lily = await start({ model: echoModel(), wrapStorage: failing.wrap });
    await lily.send("before");
    failing.arm("after");
    expect((await lily.send("/new hello", { deliveryId: "d" })).outcome).toBe("failed");
    failing.disarm();
    const again = await lily.send("/new hello", { deliveryId: "d" });
    expect(again).toMatchObject({ outcome: "answered", envelope: { message: "hello" } });
    expect((await lily.chain()).sessions).toHaveLength(2);
  });
});

describe("what a crash leaves", () => {
  /** Puts a turn in flight into the state of a session, as a run leaves it that was killed. */
  async function crashDuring(
    lily: Harness,
    sessionId: string,
    options: { deliveryId: string; text: string; withTool: boolean },
  ) {
    const config = { configurable: { thread_id: sessionId } };
    const { values } = await lily.sessions.graph.getState(config);
    const messages = [
      new HumanMessage({ content: options.text, id: options.deliveryId }),
      ...(options.withTool
        ? [
            new AIMessage({
              content: "",
              id: "ai-1",
              tool_calls: [
                { id: "c1", name: "recall_history", args: { query: "x", rationale: "y" }, type: "tool_call" },
              ],
            }),
          ]
        : []),
    ];
    const turn = {
      deliveryId: options.deliveryId,
      requestId: "r",
      textHash: (await import("#src/sessions/seal.ts")).textHashOf(options.text),
      text: options.text,
      startedAt: "2026-03-01T09:00:00.000Z",
      number: values.session.turns + 1,
      firstMessageId: options.deliveryId,
      command: null,
      latest: null,
      outcome: null,
      announcement: null,
      notice: null,
      recalled: [],
      solver: "scripted:test",
      receipt: null,
      status: "completed" as const,
      stagedUnits: [],
      modelCalls: options.withTool ? 1 : 0,
    };
    await lily.sessions.graph.updateState(config, { messages, turn, reply: null }, "callModel");
    await lily.restart();
  }

  it("drops a turn that had run no tool, keeps its text in the log, and takes its delivery again", async () => {
    const model = echoModel();
    const lily = await start({ model });
    const { sessionId } = await lily.send("before");
    await crashDuring(lily, sessionId, { deliveryId: "lost", text: "lost one", withTool: false });
    expect(await lily.send("hello?")).toMatchObject({ sessionId, turn: 2 });
    expect(inputOf(model)).toEqual(["human: before", "ai: before", "human: hello?"]);
    expect(await failuresOf(lily, sessionId)).toMatchObject([{ deliveryId: "lost", text: "lost one" }]);
    expect(await lily.send("lost one", { deliveryId: "lost" })).toMatchObject({
      outcome: "answered",
      repeated: false,
      turn: 3,
    });
  });

  it("answers the delivery that was in flight once, when it comes again and had run no tool", async () => {
    const model = echoModel();
    const lily = await start({ model });
    const { sessionId } = await lily.send("before");
    await crashDuring(lily, sessionId, { deliveryId: "d", text: "in flight", withTool: false });
    expect(await lily.send("in flight", { deliveryId: "d" })).toMatchObject({ outcome: "answered", turn: 2 });
    expect(inputOf(model)).toEqual(["human: before", "ai: before", "human: in flight"]);
    expect(await lily.send("in flight", { deliveryId: "d" })).toMatchObject({ repeated: true, turn: 2 });
  });

  it("HI-03 gives an open tool call one stored result and goes on, without running the tool again", async () => {
    const model = echoModel();
    const lily = await start({ model });
    const { sessionId } = await lily.send("before");
    await crashDuring(lily, sessionId, { deliveryId: "d", text: "use the tool", withTool: true });
    expect(await lily.send("hello?")).toMatchObject({ sessionId, turn: 3 });
    const turns = await lily.turns(sessionId);
    expect(turns[1]).toMatchObject({ status: "interrupted", deliveryId: "d" });
    expect(turns[1]?.messages.map((message) => message.role)).toEqual(["user", "assistant", "tool"]);
    expect(turns[1]?.messages[2]?.content).toContain("interrupted");
    await lily.send("again");
    expect((await lily.turns(sessionId)).filter((turn) => turn.status === "interrupted")).toHaveLength(1);
    expect((await verifyOwner(lily.sessions.repository, OWNER)).ok).toBe(true);
  });

  it("commits an answer that was complete when its delivery comes again, and asks the model nothing", async () => {
    const model = echoModel();
    const lily = await start({ model });
    const { sessionId } = await lily.send("before");
    await crashDuring(lily, sessionId, { deliveryId: "d", text: "in flight", withTool: false });
    const { values } = await lily.sessions.graph.getState({ configurable: { thread_id: sessionId } });
    await lily.sessions.graph.updateState(
      { configurable: { thread_id: sessionId } },
      {
        messages: [new AIMessage({ id: "done", content: "complete" })],
        turn: { ...values.turn, modelCalls: 1 },
      },
      "callModel",
    );
    const calls = model.calls.length;
    const reply = await lily.send("in flight", { deliveryId: "d" });
    expect(reply).toMatchObject({
      outcome: "answered",
      status: "completed",
      turn: 2,
      envelope: { message: "complete" },
    });
    expect(model.calls).toHaveLength(calls);
    expect((await lily.turns(sessionId))[1]?.messages.map((message) => message.content)).toEqual([
      "in flight",
      "complete",
    ]);
  });

  it("goes on with a turn whose tools had begun when its own delivery comes again", async () => {
    const model = new ScriptedChatModel(() => "the end");
    const lily = await start({ model });
    const { sessionId } = await lily.send("before");
    await crashDuring(lily, sessionId, { deliveryId: "d", text: "use the tool", withTool: true });
    lily.clock.advance(100 * 3_600_000);
    expect(await lily.send("use the tool", { deliveryId: "d" })).toMatchObject({
      sessionId,
      turn: 2,
      envelope: { message: "the end" },
    });
    expect(inputOf(model).at(-1)).toContain("interrupted");
  });
});

describe("stopping an answer", () => {
  it("DL-14 DL-15 keeps the question and what was written, marked, and goes on validly", async () => {
    const stop = new AbortController();
    const model = new ScriptedChatModel((_messages, index) =>
      index === 0
        ? {
            chunks: ["The ", "tot", "al is"],
            toolCalls: [{ id: "c1", name: "recall_history", args: '{"que' }],
            delayMs: 1,
          }
        : "going on",
    );
    const lily = await start({ model });
    const seen: string[] = [];
    const stopped = await lily.send("explain tides", {
      stop: stop.signal,
      onEvent: (event) => {
        if (event.type !== "token") return;
        seen.push(event.text);
        if (seen.join("").includes("tot")) stop.abort();
      },
    });
    expect(stopped).toMatchObject({ outcome: "answered", status: "stopped", turn: 1 });
    expect(stopped.envelope.message).toMatch(/^The tot/u);
    const next = await lily.send("go on");
    expect(next).toMatchObject({ sessionId: stopped.sessionId, turn: 2 });
    expect(inputOf(model)[1]).toContain("[the user stopped this answer]");
    expect(model.calls.at(-1)?.messages.some((message) => message.toolCalls !== undefined)).toBe(false);
  });
});

describe("tools", () => {
  it("answers a call of a tool that does not exist, and one with broken arguments, and lets the model go on", async () => {
    const model = new ScriptedChatModel([
      call("no_such_tool"),
      { toolCalls: [{ id: "c2", name: "recall_history", args: '{"query": ' }] },
      "done",
      "later",
    ]);
    const lily = await start({ model });
    expect((await lily.send("go")).envelope.message).toBe("done");
    expect(inputOf(model).filter((line) => line.startsWith("tool:"))).toEqual([
      "tool: there is no tool no_such_tool",
      "tool: the arguments were not valid JSON",
    ]);
    expect((await lily.send("more")).envelope.message).toBe("later");
  });

  it("stops offering tools when a turn has used its model calls, so that it ends", async () => {
    const model = new ScriptedChatModel((_messages, index) =>
      index < 7 ? call("recall_history", undefined, `c${index}`) : "enough",
    );
    const lily = await start({ model });
    expect((await lily.send("loop")).envelope.message).toBe("enough");
    expect(model.calls.at(-1)?.toolNames).toEqual([]);
  });

  it("fails plainly when the model asks for tools that it is not offered any more", async () => {
    const model = new ScriptedChatModel((_messages, index) => call("recall_history", undefined, `c${index}`));
    const lily = await start({ model });
    expect(await lily.send("loop")).toMatchObject({ outcome: "failed", envelope: { code: "model_failed" } });
    expect(model.calls).toHaveLength(8);
  });

  it("needs a rationale to recall", async () => {
    const model = new ScriptedChatModel([call("recall_history", { query: "x" }), "ok"]);
    const lily = await start({ model });
    await lily.send("go");
    expect(inputOf(model).find((line) => line.startsWith("tool:"))).toMatch(/rationale|schema/iu);
  });
});
