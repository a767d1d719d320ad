import { describe, expect, it } from "vitest";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { createSequentialIds } from "#src/kernel/ids.ts";
import { textHashOf } from "#src/sessions/seal.ts";
import type { TurnRequest } from "#src/turns/run-turn.ts";
import type { TurnReply } from "#src/turns/turn-reply.ts";
import { echoModel, KEY, OWNER, type Harness } from "./testing/harness.ts";
import { failingPuts } from "./testing/failing-store.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";
import { heldModel } from "./testing/held-model.ts";

const start = harnessStarter();
const collect = { arrivals: { mode: "collect" } };

/** Sends a message that has to wait, and resolves when it does. */
function sendLater(lily: Harness, content: string, request: Partial<TurnRequest> = {}) {
  let reply: Promise<TurnReply> = Promise.reject(new Error("not sent"));
  reply.catch(() => undefined);
  const waits = new Promise<void>((resolve) => {
    reply = lily.send(content, { ...request, onEvent: ({ type }) => type === "waiting" && resolve() });
  });
  return { waits, reply };
}

/** One turn that runs, and two messages that arrive meanwhile; `after` follows at once. */
async function collected(lily: Harness, model: ReturnType<typeof heldModel>) {
  const first = lily.send("one", { deliveryId: "d1" });
  await model.asked(1);
  const later = [
    sendLater(lily, "two", { deliveryId: "d2" }),
    sendLater(lily, "three", { deliveryId: "d3" }),
  ];
  await Promise.all(later.map(({ waits }) => waits));
  model.answer();
  await model.asked(2);
  model.answer();
  return Promise.all([first, ...later.map(({ reply }) => reply)]);
}

const userTexts = async (lily: Harness): Promise<string[]> =>
  (await lily.turns((await lily.chain()).latest)).map((turn) => turn.messages[0]?.content ?? "");

describe("messages that arrive during a turn, with `collect`", () => {
  it("are one turn of their own, of which the record names every delivery", async () => {
    const model = heldModel();
    const lily = await start({ model: model.model, config: collect });
    const [one, two, three] = await collected(lily, model);
    expect(one).toMatchObject({ turn: 1, deliveryId: "d1" });
    expect(two).toMatchObject({ turn: 2, deliveryId: "d2", envelope: { message: "re: two\n\nthree" } });
    expect(three).toEqual({ ...two, deliveryId: "d3" });
    expect(await lily.turns(one?.sessionId ?? "")).toMatchObject([
      { deliveryId: "d1", messages: [{ content: "one" }, {}] },
      {
        deliveryId: "d2",
        textHash: textHashOf("two"),
        collected: [{ deliveryId: "d3", textHash: textHashOf("three") }],
        messages: [{ content: "two\n\nthree" }, {}],
      },
    ]);
    const { verifyOwner } = await import("#src/sessions/verify.ts");
    expect(await verifyOwner(lily.sessions.repository, OWNER)).toMatchObject({ problems: [] });
  });

  it("DL-01 are each known by their ids after a restart, and refused with another text", async () => {
    const model = heldModel();
    const lily = await start({ model: model.model, config: collect });
    const [, two, three] = await collected(lily, model);
    await lily.restart({});
    expect(await lily.send("two", { deliveryId: "d2" })).toEqual({ ...two, repeated: true });
    expect(await lily.send("three", { deliveryId: "d3" })).toEqual({ ...three, repeated: true });
    for (const deliveryId of ["d2", "d3"])
      expect(await lily.send("two\n\nthree", { deliveryId })).toMatchObject({
        outcome: "refused",
        envelope: { code: "delivery_conflict" },
      });
    expect(model.model.calls).toHaveLength(2);
    expect(await userTexts(lily)).toEqual(["one", "two\n\nthree"]);
  });

  it("DL-02 DL-05 run once under one id, and twice under two with the same text", async () => {
    const model = heldModel();
    const lily = await start({ model: model.model, config: collect });
    const first = lily.send("book it", { deliveryId: "x" });
    await model.asked(1);
    const again = sendLater(lily, "book it", { deliveryId: "x" });
    const honest = sendLater(lily, "book it", { deliveryId: "y" });
    await Promise.all([again.waits, honest.waits]);
    model.answer();
    await model.asked(2);
    model.answer();
    expect(await again.reply).toEqual({ ...(await first), repeated: true });
    expect(await honest.reply).toMatchObject({ turn: 2, repeated: false });
    expect(await userTexts(lily)).toEqual(["book it", "book it"]);
  });

  it("go with their turn into the session that time began, and are known there", async () => {
    const lily = await start({ model: echoModel(), config: { arrivals: { mode: "collect" } } });
    const before = await lily.send("hello");
    lily.clock.advance(13 * 3_600_000);
    const replies = await Promise.all([
      lily.send("two", { deliveryId: "d2" }),
      lily.send("three", { deliveryId: "d3" }),
    ]);
    expect(replies[0]).toMatchObject({ turn: 1, announcement: expect.stringContaining("13 h") });
    expect(replies[0]?.sessionId).not.toBe(before.sessionId);
    expect(await lily.send("three", { deliveryId: "d3" })).toEqual({ ...replies[1], repeated: true });
    expect(await userTexts(lily)).toEqual(["two\n\nthree"]);
  });

  it("may come again in another company after a rollover whose answer failed", async () => {
    const model = new ScriptedChatModel((_messages, index) =>
      index === 1 ? { error: new Error("down") } : "fine",
    );
    const lily = await start({ model, config: collect });
    await lily.send("hello");
    lily.clock.advance(13 * 3_600_000);
    const failed = await Promise.all(["two", "three"].map((text) => lily.send(text, { deliveryId: text })));
    expect(failed.map(({ outcome }) => outcome)).toEqual(["failed", "failed"]);
    const replies = await Promise.all(
      ["two", "four", "three"].map((text) => lily.send(text, { deliveryId: text })),
    );
    expect(replies).toMatchObject([{ turn: 1 }, { turn: 1 }, { turn: 1 }]);
    expect(await userTexts(lily)).toEqual(["two\n\nfour\n\nthree"]);
  });

  it("count as handled only with their record: what fails before it may come again", async () => {
    const failing = failingPuts((namespace) => namespace[0] === "history");
    const lily = await start({ model: echoModel(), config: collect, wrapStorage: failing.wrap });
    failing.arm();
    const failed = await Promise.all(["two", "three"].map((text) => lily.send(text, { deliveryId: text })));
    expect(failed).toMatchObject([{ envelope: { code: "storage_full" } }, { outcome: "failed" }]);
    failing.disarm();
    expect(await lily.send("three", { deliveryId: "three" })).toMatchObject({ turn: 1, repeated: false });
    expect(await lily.send("two", { deliveryId: "two" })).toMatchObject({ turn: 2, repeated: false });
  });

  it("DL-06 lose none of twenty that are sent at once", async () => {
    const lily = await start({ model: echoModel(), config: collect });
    const texts = Array.from({ length: 20 }, (_unused, index) => `m${index}`);
    const replies = await Promise.all(texts.map((text) => lily.send(text, { deliveryId: text })));
    expect(replies.map(({ deliveryId }) => deliveryId)).toEqual(texts);
    expect((await userTexts(lily)).join("\n\n").split("\n\n")).toEqual(texts);
  });

  it("are collected only on keys whose rule says so; the longest prefix has the last word", async () => {
    const config = {
      arrivals: { mode: "collect" },
      keys: [{ prefix: "test:", arrivals: { mode: "queue" } }],
    };
    const lily = await start({ model: echoModel(), config });
    const on = (sessionKey: string) => Promise.all(["a", "b"].map((text) => lily.send(text, { sessionKey })));
    expect((await on("test:x")).map(({ turn }) => turn)).toEqual([1, 2]);
    expect((await on("other:x")).map(({ turn }) => turn)).toEqual([1, 1]);
  });
});

describe("collected messages whose program is killed", () => {
  /** Ends the run before the commit, when the model has answered. */
  async function crash(lily: Harness): Promise<void> {
    const chain = await lily.chain();
    const lease = await lily.storage.locks.acquire("turn/local/test=3Amain");
    const others = [{ deliveryId: "d2", textHash: textHashOf("two") }];
    const stream = await lily.sessions.graph.stream(
      { messages: [{ role: "user", content: "one\n\ntwo", id: "d1" }] },
      {
        configurable: { thread_id: chain.latest },
        context: {
          owner: OWNER,
          sessionKey: KEY,
          followsHandoff: true,
          fence: { ...lease, collected: { textHash: textHashOf("one"), others } },
        },
        interruptBefore: ["commit"] as never,
        streamMode: "updates",
      },
    );
    for await (const _update of stream);
    await lease.release();
    await lily.restart();
  }

  it.each([
    ["in the same company", ["one", "two"]],
    ["the other way round", ["two", "one"]],
    ["with another one", ["two", "new", "one"]],
    ["one of them alone", ["two"]],
  ])("are answered once when they come again %s", async (_how, texts) => {
    const model = echoModel();
    const lily = await start({ model, config: collect });
    await lily.send("hello");
    await crash(lily);
    const ids: Record<string, string> = { one: "d1", two: "d2", new: "d3" };
    const replies = await Promise.all(texts.map((text) => lily.send(text, { deliveryId: ids[text] ?? "" })));
    for (const [index, text] of texts.entries())
      expect(replies[index]).toMatchObject({ deliveryId: ids[text], turn: text === "new" ? 3 : 2 });
    expect(await userTexts(lily)).toEqual(["hello", "one\n\ntwo", ...(texts.includes("new") ? ["new"] : [])]);
    expect(await lily.send("one", { deliveryId: "d1" })).toMatchObject({ turn: 2, repeated: true });
    expect(await lily.send("two", { deliveryId: "d2" })).toMatchObject({ turn: 2, repeated: true });
    expect(model.calls).toHaveLength(texts.includes("new") ? 3 : 2);
  });

  it("are believed of `runTurn` alone: without a fence a caller cannot say that others were answered", async () => {
    const lily = await start({
      model: echoModel(),
      adjust: ({ fencedStore: _fenced, ...deps }) => ({ ...deps, ids: createSequentialIds(9) }),
    });
    const forged = { lockName: "x", token: 1, collected: { textHash: "x", others: [] } };
    await lily.sessions.graph.invoke(
      { messages: [{ role: "user", content: "hello", id: "d1" }] },
      {
        configurable: { thread_id: "0198f000-0000-7000-8000-000000000001" },
        context: {
          owner: OWNER,
          sessionKey: KEY,
          followsHandoff: true,
          fence: { ...forged, collected: { textHash: "x", others: [{ deliveryId: "d9", textHash: "y" }] } },
        },
      },
    );
    const [turn] = await lily.turns((await lily.chain()).latest);
    expect(turn).toMatchObject({ deliveryId: "d1", textHash: textHashOf("hello") });
    expect(turn).not.toHaveProperty("collected");
    expect(await lily.send("real", { deliveryId: "d9" })).toMatchObject({ turn: 2, repeated: false });
  });
});

describe("a message that arrives during a turn, with `interrupt`", () => {
  const interrupt = { arrivals: { mode: "interrupt" } };

  it("stops it, keeps what there is of the answer, and is answered next", async () => {
    const model = new ScriptedChatModel((_messages, index) =>
      index === 0 ? { chunks: ["The ", "tot", "al is"], delayMs: 1 } : "to the second",
    );
    const lily = await start({ model, config: interrupt });
    let second: Promise<TurnReply> | undefined;
    const first = await lily.send("explain tides", {
      onEvent(event) {
        if (event.type === "token") second ??= lily.send("never mind");
      },
    });
    expect(first).toMatchObject({ status: "stopped", turn: 1 });
    expect(first.envelope.message).toMatch(/^The/u);
    expect(await second).toMatchObject({
      status: "completed",
      turn: 2,
      envelope: { message: "to the second" },
    });
    expect(await userTexts(lily)).toEqual(["explain tides", "never mind"]);
  });

  it("DL-02 that has the id of the turn waits for it instead", async () => {
    const model = heldModel();
    const lily = await start({ model: model.model, config: interrupt });
    const first = lily.send("book it", { deliveryId: "x" });
    await model.asked(1);
    const again = sendLater(lily, "book it", { deliveryId: "x" });
    await again.waits;
    model.answer();
    expect(await first).toMatchObject({ status: "completed", repeated: false });
    expect(await again.reply).toEqual({ ...(await first), repeated: true });
    expect(model.model.calls).toHaveLength(1);
  });

  it("DL-06 loses none of twenty that are sent at once", async () => {
    const lily = await start({ model: echoModel(), config: interrupt });
    const texts = Array.from({ length: 20 }, (_unused, index) => `m${index}`);
    await Promise.all(texts.map((text) => lily.send(text)));
    expect((await userTexts(lily)).join("\n\n").split("\n\n").toSorted()).toEqual(texts.toSorted());
  });
});

describe("a delivery whose turn failed before anything happened", () => {
  it.each(["queue", "collect", "interrupt"])("runs when it comes again (%s)", async (mode) => {
    const model = new ScriptedChatModel((_messages, index) =>
      index === 0 ? { error: new Error("down") } : "fine",
    );
    const lily = await start({ model, config: { arrivals: { mode } } });
    expect(await lily.send("hello", { deliveryId: "x" })).toMatchObject({ outcome: "failed", turn: null });
    expect(await lily.send("hello", { deliveryId: "x" })).toMatchObject({ turn: 1, repeated: false });
    expect(await lily.send("hello", { deliveryId: "x" })).toMatchObject({ turn: 1, repeated: true });
    expect(model.calls).toHaveLength(2);
  });
});

describe("/stop", () => {
  it("stops the answer that is written, answers at once and is no turn", async () => {
    const model = new ScriptedChatModel(() => ({ chunks: ["The ", "tot", "al is"], delayMs: 1 }));
    const lily = await start({ model });
    let stopping: Promise<TurnReply> | undefined;
    const first = await lily.send("explain tides", {
      onEvent(event) {
        if (event.type === "token") stopping ??= lily.send("/stop", { deliveryId: "s" });
      },
    });
    expect(first).toMatchObject({ status: "stopped", turn: 1 });
    expect(await stopping).toMatchObject({
      outcome: "command",
      turn: null,
      deliveryId: "s",
      envelope: { ok: true, code: "answer_stopped", data: { stopped: true } },
    });
    expect(await lily.turns(first.sessionId)).toHaveLength(1);
  });

  it("says that nothing is running when nothing is, also before the first message", async () => {
    const lily = await start({ model: echoModel() });
    const nothing = { outcome: "command", envelope: { code: "nothing_running", data: { stopped: false } } };
    expect(await lily.send("/stop")).toMatchObject(nothing);
    await lily.send("hello");
    expect(await lily.send("/stop")).toMatchObject(nothing);
    expect(await lily.sessions.stop({ owner: OWNER, sessionKey: KEY })).toBe(false);
    expect(await userTexts(lily)).toEqual(["hello"]);
  });
});
