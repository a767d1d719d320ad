import { describe, expect, it, vi } from "vitest";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { z } from "zod";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { verifyOwner } from "#src/sessions/verify.ts";
import { echoModel, inputOf, KEY, OWNER, storingAll, type Harness } from "./testing/harness.ts";
import { putInFlight, readInFlight } from "./in-flight.ts";
import { failingPuts } from "./testing/failing-store.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();
const call = (name: string, args: object = { query: "x", rationale: "y" }, id = "c1") => ({
  toolCalls: [{ id, name, args: { ...args } }],
});

/** A tool that counts how often it runs. */
function countedLook() {
  let runs = 0;
  const look = tool(
    async () => {
      runs += 1;
      return "found";
    },
    { name: "look", description: "Looks.", schema: z.object({}) },
  );
  return { tool: look, runs: () => runs };
}

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

  it("keeps which calls failed, for how long it was tried, and of what kind", async () => {
    const overloaded = Object.assign(new Error("overloaded"), { status: 529 });
    const model = new ScriptedChatModel((_messages, index) => (index === 0 ? "fine" : { error: overloaded }));
    const lily = await start({ model });
    const { sessionId } = await lily.send("one");
    await lily.send("two");
    const at = "2026-03-01T09:00:00.000Z";
    const attempt = { model: "scripted:test", kind: "overloaded", at };
    expect((await failuresOf(lily, sessionId))[0]).toMatchObject({ attempts: [attempt, attempt, attempt] });
  });

  it("is answered by a fallback, for this turn only, and tells which calls had failed", async () => {
    const model = new ScriptedChatModel((_messages, index) =>
      index === 0 ? { error: Object.assign(new Error("no"), { status: 401 }) } : "mine",
    );
    const lily = await start({
      model,
      models: { "scripted:other": new ScriptedChatModel(() => "theirs") },
      config: { agents: { defaults: { fallbacks: ["scripted:other"] } } },
    });
    const reply = await lily.send("one");
    expect(reply.envelope.message).toBe("theirs");
    expect((await lily.turns(reply.sessionId))[0]?.explanation).toMatchObject({
      solver: "scripted:other",
      attempts: [{ model: "scripted:test", kind: "auth" }],
    });
    expect((await lily.send("two")).envelope.message).toBe("mine");
    expect((await lily.turns(reply.sessionId))[1]?.explanation.attempts).toBeUndefined();
  });

  it.each([
    "messages with role 'tool' must be a response to a preceding message with 'tool_calls'",
    "Unexpected role 'user' after role 'tool'",
  ])("D-9 asks no fallback when the messages are refused: %s", async (words) => {
    const refused = Object.assign(new Error(`400 ${words}`), { status: 400 });
    const model = new ScriptedChatModel(() => ({ error: refused }));
    const other = new ScriptedChatModel(() => "theirs");
    const lily = await start({
      model,
      models: { "scripted:other": other },
      config: { agents: { defaults: { fallbacks: ["scripted:other"] } } },
    });
    const reply = await lily.send("one");
    expect(reply).toMatchObject({ outcome: "failed", envelope: { code: "model_failed" } });
    expect(reply.envelope.message.split(words)).toHaveLength(2);
    expect([model.calls.length, other.calls.length]).toEqual([1, 0]);
  });

  it.each(["length", "content_filter"])(
    "D-5 keeps an answer that ended by %s, and says why",
    async (reason) => {
      const lily = await start({
        model: new ScriptedChatModel(() => ({ text: "Half an", finishReason: reason })),
      });
      const reply = await lily.send("one");
      expect(reply).toMatchObject({ status: "limited", envelope: { message: "Half an" } });
      const [turn] = await lily.turns(reply.sessionId);
      expect(turn).toMatchObject({
        status: "limited",
        explanation: { cut: reason },
        reply: { notice: expect.stringContaining("The answer is cut") as unknown },
      });
      expect((await lily.send("/why")).envelope.message).toContain(`finish reason ${reason}`);
    },
  );

  it("D-1 offers no tools where the configuration says so", async () => {
    const model = new ScriptedChatModel(() => "fine");
    const lily = await start({ model, config: { agents: { defaults: { tools: false } } } });
    const bound = vi.spyOn(model, "bindTools");
    await lily.send("one");
    expect(bound).not.toHaveBeenCalled();
  });

  it("D-1 says once, before the answer, what the model does not take", async () => {
    const untold = ["The model takes no tools: it answers without them."];
    const lily = await start({
      model: new ScriptedChatModel(() => "fine"),
      adjust: (deps) => ({
        ...deps,
        models: {
          chatModel: (reference, options) => deps.models.chatModel(reference, options),
          takeNotices: () => untold.splice(0),
        },
      }),
    });
    const { sessionId } = await lily.send("one");
    await lily.send("two");
    const notices = (await lily.turns(sessionId)).map(({ reply }) => reply.notice);
    expect(notices).toEqual(["The model takes no tools: it answers without them.", undefined]);
  });

  it("asks the fallback at once when the server wants to be left alone for longer than the turn has", async () => {
    const slept: number[] = [];
    const headers = new Headers({ "retry-after": "20" });
    const limited = Object.assign(new Error("slow down"), { status: 429, headers });
    const model = new ScriptedChatModel(() => ({ error: limited }));
    const lily = await start({
      model,
      models: { "scripted:other": new ScriptedChatModel(() => "theirs") },
      config: { agents: { defaults: { fallbacks: ["scripted:other"] } }, limits: { turnMs: 15_000 } },
      adjust: (deps) => ({ ...deps, sleep: async (ms) => void slept.push(ms) }),
    });
    expect(await lily.send("one")).toMatchObject({ status: "completed", envelope: { message: "theirs" } });
    expect(model.calls).toHaveLength(1);
    expect(slept).not.toContain(20_000);
  });

  const failsWith = (fields: object) => () => ({ error: Object.assign(new Error("no"), fields) });

  it.each<[what: string, step: () => object]>([
    ...[400, 401, 402, 404, 408, 413, 422, 429, 500, 503].map((status): [string, () => object] => [
      `HTTP ${status}`,
      failsWith({ status }),
    ]),
    ["a server that is away", failsWith({ code: "ECONNREFUSED" })],
    ["an answer that breaks off", () => ({ text: "Half", error: new TypeError("terminated") })],
    ["an answer that says nothing", () => ({ text: "" })],
    ["a mistake of the program", failsWith({ name: "TypeError" })],
  ])("says that the message was not stored: %s (R-9)", async (_what, step) => {
    const lily = await start({ model: new ScriptedChatModel(step) });
    const { outcome, envelope, sessionId } = await lily.send("one");
    expect(outcome).toBe("failed");
    expect(envelope.next?.match(/not stored/gu)).toHaveLength(1);
    expect(await lily.turns(sessionId)).toEqual([]);
  });

  it.each([
    ["its key", { sessionKey: "bad key " }],
    ["its owner", { owner: "" }],
    ["its delivery id", { deliveryId: "" }],
  ])("says that the message was not stored where %s is refused (R-9)", async (_what, request) => {
    const lily = await start({ model: echoModel() });
    const { envelope } = await lily.send("one", request);
    expect(envelope.next?.match(/stored/gu)).toHaveLength(1);
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
    expect(failed.envelope.next).toContain("not stored");
    failing.disarm();
    const again = await lily.send("hello", { deliveryId: "d" });
    expect(again).toMatchObject({ outcome: "answered", repeated: false, turn: isFirstContact ? 1 : 2 });
    expect(await verifyOwner(lily.sessions.repository, OWNER)).toMatchObject({ ok: true });
  });

  it("whose tools have run is only stored when it comes again, and no tool runs a second time", async () => {
    const failing = failingPuts((namespace) => namespace[0] === "history");
    const look = countedLook();
    const model = new ScriptedChatModel([
      { toolCalls: [{ id: "c1", name: "look", args: {} }] },
      "there it is",
    ]);
    const adjust = (deps: SessionDeps): SessionDeps => ({ ...deps, tools: [look.tool] });
    const lily = await start({ model, adjust, wrapStorage: failing.wrap });
    failing.arm();
    const failed = await lily.send("look", { deliveryId: "d" });
    expect(failed).toMatchObject({ outcome: "failed", envelope: { code: "storage_full" } });
    failing.disarm();
    await lily.restart();
    const again = await lily.send("look", { deliveryId: "d" });
    expect(again).toMatchObject({ outcome: "answered", turn: 1, envelope: { message: "there it is" } });
    expect([look.runs(), model.calls.length]).toEqual([1, 2]);
  });

  it("whose tools have run goes on from there when its model failed, and no tool runs a second time", async () => {
    const look = countedLook();
    const model = new ScriptedChatModel((_messages, index) => {
      if (index === 0) return { toolCalls: [{ id: "c1", name: "look", args: {} }] };
      return index === 1 ? { error: new Error("boom") } : "there it is";
    });
    const lily = await start({ model, adjust: (deps) => ({ ...deps, tools: [look.tool] }) });
    const failed = await lily.send("look", { deliveryId: "d" });
    expect(failed).toMatchObject({ outcome: "failed", envelope: { code: "model_failed" } });
    expect(await lily.send("look elsewhere", { deliveryId: "d" })).toMatchObject({
      outcome: "refused",
      envelope: { code: "delivery_conflict" },
    });
    await lily.restart();
    const again = await lily.send("look", { deliveryId: "d" });
    expect(again).toMatchObject({ outcome: "answered", turn: 1, envelope: { message: "there it is" } });
    expect(look.runs()).toBe(1);
  });

  it("is answered when the write of its record was made but reported as failed", async () => {
    const failing = failingPuts((namespace) => namespace[0] === "history");
    const lily = await start({ model: echoModel(), wrapStorage: failing.wrap });
    await lily.send("before");
    failing.arm("after");
    const reply = await lily.send("hello", { deliveryId: "d" });
    failing.disarm();
    expect(reply).toMatchObject({ outcome: "answered", turn: 2 });
    expect(await lily.send("hello", { deliveryId: "d" })).toEqual({ ...reply, repeated: true });
    expect(await verifyOwner(lily.sessions.repository, OWNER)).toMatchObject({ ok: true, turns: 2 });
  });

  it("has moved latest once when the chain of a rotation was written but reported as failed", async () => {
    const failing = failingPuts((namespace) => namespace[0] === "sessions");
    const lily = await start({ model: echoModel(), wrapStorage: failing.wrap });
    await lily.send("before");
    failing.arm("after");
    const reply = await lily.send("/new hello", { deliveryId: "d" });
    failing.disarm();
    expect(reply).toMatchObject({ outcome: "answered", envelope: { message: "hello" } });
    expect(await lily.send("/new hello", { deliveryId: "d" })).toEqual({ ...reply, repeated: true });
    expect((await lily.chain()).sessions).toHaveLength(2);
  });
});

describe("a session whose checkpoints are gone", () => {
  it("goes on from the transcript, with what commands had changed", async () => {
    const model = echoModel();
    const lily = await start({ model });
    const { sessionId } = await lily.send("before");
    await lily.send("/rollover idle 30m");
    await lily.send("/title Kept");
    for (let turn = 0; turn < 25; turn += 1) await lily.send(`m${turn}`);
    await lily.storage.checkpointer.deleteThread(sessionId);
    expect(await lily.send("next")).toMatchObject({ sessionId, turn: 29 });
    expect(inputOf(model).slice(-3)).toEqual(["human: m24", "ai: m24", "human: next"]);
    const { values } = await lily.sessions.graph.getState({ configurable: { thread_id: sessionId } });
    expect(values.messages.slice(-4).map((message: { text: string }) => message.text)).toEqual([
      "m24",
      "m24",
      "next",
      "next",
    ]);
    expect((await lily.send("/status")).envelope.data).toMatchObject({
      title: "Kept",
      next: { limitMs: 1_800_000 },
    });
    expect(await verifyOwner(lily.sessions.repository, OWNER)).toMatchObject({ ok: true, turns: 29 });
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
                { id: "c1", name: "session_recall", args: { query: "x", rationale: "y" }, type: "tool_call" },
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
    await putInFlight(
      lily.storage.store,
      { owner: OWNER, sessionKey: KEY },
      { sessionId, turn, messages, call: null },
    );
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
    const ref = { owner: OWNER, sessionKey: KEY };
    const left = await readInFlight(lily.storage.store, ref);
    if (left === undefined) throw new Error("nothing is in flight");
    const done = new AIMessage({ id: "done", content: "complete" });
    await putInFlight(lily.storage.store, ref, { ...left, messages: [...left.messages, done] });
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

describe("a run that is killed between two nodes", () => {
  const on = (threadId: string, text: string, deliveryId = "crashed") => ({ threadId, deliveryId, text });

  it("never commits into a session that was ended, when it is run again from an old checkpoint", async () => {
    const lily = await start({ model: echoModel(), ...storingAll() });
    const { sessionId } = await lily.send("first");
    await lily.crashBefore("callModel", on(sessionId, "second"));
    const old = await lily.sessions.graph.getState({ configurable: { thread_id: sessionId } });
    await lily.send("/new");
    const replayed = await lily.sessions.graph.invoke(null, {
      ...old.config,
      context: { owner: OWNER, sessionKey: KEY, followsHandoff: true, fence: undefined },
    });
    expect(replayed.reply).toMatchObject({ outcome: "failed", envelope: { code: "turn_conflict" } });
    expect(await lily.turns(sessionId)).toHaveLength(1);
    expect((await verifyOwner(lily.sessions.repository, OWNER)).ok).toBe(true);
  });

  it("does not double the answer of the built-in solver when its delivery comes again", async () => {
    const lily = await start();
    const { sessionId } = await lily.send("my flight is BA117");
    await lily.crashBefore("commit", on(sessionId, "what is my flight?"));
    expect(await lily.send("what is my flight?", { deliveryId: "crashed" })).toMatchObject({ turn: 2 });
    expect((await lily.turns(sessionId))[1]?.messages.map((message) => message.role)).toEqual([
      "user",
      "assistant",
    ]);
  });

  it("takes every later message that is sent to the old thread, after a crash between rotation and hand-off", async () => {
    const lily = await start({ model: echoModel() });
    const { sessionId } = await lily.send("first");
    const config = {
      configurable: { thread_id: sessionId },
      context: { owner: OWNER, sessionKey: KEY, followsHandoff: true, fence: undefined },
    };
    // The hand-off that it ends with is followed by nobody.
    await lily.sessions.graph.invoke(
      { messages: [{ role: "user", content: "/new hello", id: "crashed" }] },
      config,
    );
    for (const text of ["m2", "m3", "m4"]) {
      const result = await lily.sessions.graph.invoke(
        { messages: [{ role: "user", content: text }] },
        config,
      );
      expect(result.handoff?.message.content).toBe(text);
    }
    expect(await lily.send("/new hello", { deliveryId: "crashed" })).toMatchObject({
      outcome: "answered",
      turn: 1,
    });
    expect((await lily.chain()).sessions).toHaveLength(2);
  });

  it("does not keep a session young: the interrupted turn counts where it was, and the next day is a new session", async () => {
    const model = new ScriptedChatModel((_messages, index) =>
      index === 1 ? call("session_recall") : "fine",
    );
    const lily = await start({ model });
    const { sessionId } = await lily.send("before");
    await lily.crashBefore("runTools", on(sessionId, "use the tool"));
    lily.clock.advance(30 * 3_600_000);
    const next = await lily.send("hello?");
    expect(next.sessionId).not.toBe(sessionId);
    expect(next.announcement).toContain("since the last turn");
    expect((await lily.turns(sessionId)).map((turn) => turn.status)).toEqual(["completed", "interrupted"]);
  });

  it("leaves what is in flight alone while a command only reads, and answers it afterwards", async () => {
    const model = echoModel();
    const lily = await start({ model });
    const { sessionId } = await lily.send("before");
    await lily.crashBefore("commit", on(sessionId, "in flight"));
    const config = {
      configurable: { thread_id: sessionId },
      context: { owner: OWNER, sessionKey: KEY, followsHandoff: true, fence: undefined },
    };
    const status = await lily.sessions.graph.invoke(
      { messages: [{ role: "user", content: "/status" }] },
      config,
    );
    expect(status.reply).toMatchObject({ outcome: "command", envelope: { code: "status" } });
    expect(await lily.turns(sessionId)).toHaveLength(1);
    expect(await lily.send("in flight", { deliveryId: "crashed" })).toMatchObject({
      outcome: "answered",
      turn: 2,
    });
    expect(model.calls).toHaveLength(2);
  });
});

describe("a rollover that nobody asked for", () => {
  it("is announced with the first turn of the new session, also when the message that caused it failed", async () => {
    const model = new ScriptedChatModel((_messages, index) =>
      index === 1 ? { error: new Error("down") } : "fine",
    );
    const lily = await start({ model });
    await lily.send("hi");
    lily.clock.advance(13 * 3_600_000);
    expect(await lily.send("second")).toMatchObject({
      outcome: "failed",
      announcement: expect.stringContaining("13 h"),
    });
    expect(await lily.send("third")).toMatchObject({
      outcome: "answered",
      announcement: expect.stringContaining("13 h"),
    });
    expect((await lily.send("fourth")).announcement).toBeUndefined();
  });
});

describe("stopping an answer", () => {
  it("DL-14 DL-15 keeps the question and what was written, marked, and goes on validly", async () => {
    const stop = new AbortController();
    const model = new ScriptedChatModel((_messages, index) =>
      index === 0
        ? {
            chunks: ["The ", "tot", "al is"],
            toolCalls: [{ id: "c1", name: "session_recall", args: '{"que' }],
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

describe("a command that ends the session, while an answer is written", () => {
  it("stops it only when the command is new and will not be refused", async () => {
    let finish: () => void = () => undefined;
    let markAsked: () => void = () => undefined;
    const asked = new Promise<void>((resolve) => (markAsked = resolve));
    const model = new ScriptedChatModel(async (_messages, index) => {
      if (index === 1) {
        markAsked();
        await new Promise<void>((resolve) => (finish = resolve));
      }
      return "whole answer";
    });
    const lily = await start({ model });
    await lily.send("/new hello", { deliveryId: "d1" });
    const answer = lily.send("a question");
    await asked;
    // A message waits for the lock only after it decided what to stop.
    const waits = (content: string, deliveryId: string) => {
      let reply: Promise<unknown> = Promise.resolve();
      const isWaiting = new Promise<void>((resolve) => {
        reply = lily.send(content, { deliveryId, onEvent: (event) => event.type === "waiting" && resolve() });
      });
      return { isWaiting, reply };
    };
    const late = [waits("/new hello", "d1"), waits("/resume 99", "d2")];
    await Promise.all(late.map(({ isWaiting }) => isWaiting));
    finish();
    expect(await answer).toMatchObject({ status: "completed", envelope: { message: "whole answer" } });
    const replies = await Promise.all(late.map(({ reply }) => reply));
    expect(replies).toMatchObject([{ repeated: true }, { outcome: "refused" }]);
  });
});

describe("tools", () => {
  it("answers a call of a tool that does not exist, and one with broken arguments, and lets the model go on", async () => {
    const model = new ScriptedChatModel([
      call("no_such_tool"),
      { toolCalls: [{ id: "c2", name: "session_recall", args: '{"query": ' }] },
      "done",
      "later",
    ]);
    const lily = await start({ model });
    expect((await lily.send("go")).envelope.message).toBe("done");
    expect(inputOf(model).filter((line) => line.startsWith("tool:"))).toEqual([
      "tool: there is no tool no_such_tool",
      "tool: not run: The arguments are not a JSON object.",
    ]);
    expect((await lily.send("more")).envelope.message).toBe("later");
  });

  it("needs a rationale to recall", async () => {
    const model = new ScriptedChatModel([call("session_recall", { query: "x" }), "ok"]);
    const lily = await start({ model });
    await lily.send("go");
    expect(inputOf(model).find((line) => line.startsWith("tool:"))).toMatch(/rationale|schema/iu);
  });
});
