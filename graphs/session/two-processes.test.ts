/** Two programs on one SQLite file, each with its own locks, stops and timers: nothing is shared but the file. */
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it, vi } from "vitest";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { createSequentialIds } from "#src/kernel/ids.ts";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import type { TurnRequest } from "#src/turns/run-turn.ts";
import type { TurnReply } from "#src/turns/turn-reply.ts";
import { KEY, OWNER, type Harness } from "./testing/harness.ts";
import { heldModel } from "./testing/held-model.ts";
import { onFilesOf } from "./testing/on-files-of.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();
/** Longer than a turn takes to look, so short that a test can wait for it. */
const STOP_WAIT_MS = 600;

interface Program {
  readonly lily: Harness;
}

interface Programs {
  readonly one: Program;
  readonly other: Program;
}

async function startTwo(model: BaseChatModel, config: object = {}): Promise<Programs> {
  const one = await start({ model, config });
  const other = await start({
    model,
    config,
    adjust: (deps) => ({ ...deps, ids: createSequentialIds(77) }),
    wrapStorage: onFilesOf(one),
  });
  return { one: { lily: one }, other: { lily: other } };
}

/** A model that says "The " and then nothing more until it is stopped; from its second call on it answers whole. */
function endlessModel() {
  let tell: () => void = () => undefined;
  const hasBegun = new Promise<void>((resolve) => (tell = resolve));
  let waits = 0;
  const model = new ScriptedChatModel(
    (_messages, index) => (index === 0 ? { chunks: ["The ", "end"], delayMs: 1 } : "whole answer"),
    {
      sleep: (_ms, signal) => {
        waits += 1;
        if (waits === 1) return Promise.resolve();
        tell();
        return new Promise((_resolve, reject) => {
          signal?.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
        });
      },
    },
  );
  return { model, hasBegun };
}

/** Sends a message that has to wait for the other program, and resolves when it does. */
function sendLater({ lily }: Program, content: string, request: Partial<TurnRequest> = {}) {
  let reply: Promise<TurnReply> = Promise.reject(new Error("not sent"));
  reply.catch(() => undefined);
  const waits = new Promise<void>((resolve) => {
    reply = lily.send(content, { ...request, onEvent: ({ type }) => type === "waiting" && resolve() });
  });
  return { waits, reply };
}

const requestsIn = ({ lily }: Program) => lily.storage.store.search(["stop-requests"]);

/** Resolves when a program has asked another one to stop; it may have been heard before anybody sees it in the file. */
function askedToStop({ lily }: Program): Promise<void> {
  const { store } = lily.storage;
  const put = store.put.bind(store);
  return new Promise((resolve) => {
    store.put = async (namespace, ...item) => {
      await put(namespace, ...item);
      if (namespace[0] === "stop-requests") resolve();
    };
  });
}

describe("a delivery that comes to another program while its turn runs", () => {
  it("DL-02 waits and gets the stored reply", async () => {
    const model = heldModel();
    const { one, other } = await startTwo(model.model);
    const first = one.lily.send("book it", { deliveryId: "x" });
    await model.asked(1);
    const again = sendLater(other, "book it", { deliveryId: "x" });
    await again.waits;
    model.answer();
    expect(await again.reply).toEqual({ ...(await first), repeated: true });
    expect(model.model.calls).toHaveLength(1);
  });

  it("never interrupts it, and waits for as long as it takes", async () => {
    const model = heldModel();
    const { one, other } = await startTwo(model.model, {
      arrivals: { mode: "interrupt", stopWaitMs: STOP_WAIT_MS },
    });
    const first = one.lily.send("book it", { deliveryId: "x" });
    await model.asked(1);
    const asked = askedToStop(other);
    const again = sendLater(other, "book it", { deliveryId: "x" });
    await asked;
    await vi.waitFor(async () => expect(await requestsIn(one)).toEqual([]), 5_000);
    await sleep(STOP_WAIT_MS + 100);
    model.answer();
    expect(await first).toMatchObject({ status: "completed" });
    expect(await again.reply).toEqual({ ...(await first), repeated: true });
  });
});

describe("messages that wait in another program, with `collect`", () => {
  it("are one turn there, and each is known in both", async () => {
    const model = heldModel();
    const { one, other } = await startTwo(model.model, { arrivals: { mode: "collect" } });
    const first = one.lily.send("one", { deliveryId: "d1" });
    await model.asked(1);
    const later = ["d2", "d3"].map((deliveryId) => sendLater(other, `text ${deliveryId}`, { deliveryId }));
    await Promise.all(later.map(({ waits }) => waits));
    model.answer();
    await first;
    await model.asked(2);
    model.answer();
    const [two, three] = await Promise.all(later.map(({ reply }) => reply));
    expect(three).toEqual({ ...two, deliveryId: "d3", turn: 2 });
    expect(await one.lily.send("text d3", { deliveryId: "d3" })).toEqual({ ...three, repeated: true });
  });
});

describe("a turn that another program is asked to stop", () => {
  it("is stopped by /stop when it looks next, keeps what there is, and leaves no request behind", async () => {
    const { model, hasBegun } = endlessModel();
    const { one, other } = await startTwo(model);
    const first = one.lily.send("tell me");
    await hasBegun;
    expect(await other.lily.send("/stop")).toMatchObject({
      outcome: "command",
      turn: null,
      envelope: { code: "answer_stopped", data: { stopped: true, elsewhere: true } },
    });
    expect(await first).toMatchObject({ status: "stopped", turn: 1, envelope: { message: "The " } });
    expect(await requestsIn(one)).toEqual([]);
    expect(await other.lily.sessions.stop({ owner: OWNER, sessionKey: KEY })).toBe(false);
    expect(await requestsIn(one)).toEqual([]);
  });

  it("is stopped by the same way as the route takes", async () => {
    const { model, hasBegun } = endlessModel();
    const { one, other } = await startTwo(model);
    const first = one.lily.send("tell me");
    await hasBegun;
    expect(await other.lily.sessions.stop({ owner: "somebody", sessionKey: KEY })).toBe(false);
    expect(await other.lily.sessions.stop({ owner: OWNER, sessionKey: KEY })).toBe(true);
    expect(await first).toMatchObject({ status: "stopped" });
  });

  it("ends for /new, which then begins the next session", async () => {
    const { model, hasBegun } = endlessModel();
    const { one, other } = await startTwo(model);
    await other.lily.send("/title before");
    const first = one.lily.send("tell me");
    await hasBegun;
    const next = sendLater(other, "/new hello");
    await next.waits;
    expect(await first).toMatchObject({ status: "stopped" });
    expect(await next.reply).toMatchObject({ turn: 1, envelope: { message: "whole answer" } });
    expect((await next.reply).sessionId).not.toBe((await first).sessionId);
    expect(await requestsIn(one)).toEqual([]);
  });

  it("ends for a message that interrupts", async () => {
    const { model, hasBegun } = endlessModel();
    const { one, other } = await startTwo(model, { arrivals: { mode: "interrupt" } });
    const first = one.lily.send("tell me");
    await hasBegun;
    const next = sendLater(other, "never mind");
    expect(await first).toMatchObject({ status: "stopped", turn: 1 });
    expect(await next.reply).toMatchObject({ status: "completed", turn: 2 });
    expect(await requestsIn(one)).toEqual([]);
  });
});
