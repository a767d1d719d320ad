/** What is stored of a turn while its model thinks: the program dies at any moment, and the file is opened by another. */
import { randomUUID } from "node:crypto";
import { cpSync } from "node:fs";
import { tool } from "@langchain/core/tools";
import { describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { ScriptedChatModel } from "#src/models/scripted-chat-model.ts";
import { createManualTimer, settle, type ManualTimer } from "#src/turns/testing/manual-timer.ts";
import { echoModel, KEY, OWNER, type Harness, type HarnessOptions } from "./testing/harness.ts";
import { heldModel, type HeldModel } from "./testing/held-model.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();
const AFTER_MS = 20;
/** Leases of the program that died have ended by then. */
const LATER = Date.parse("2026-03-01T09:05:00.000Z");

interface Deferred {
  readonly lily: Harness;
  readonly timer: ManualTimer;
}

/** Lily as a terminal runs it, with a timer that the test moves. */
async function startDeferred(
  options: HarnessOptions,
  adjust: (deps: SessionDeps) => Partial<SessionDeps> = () => ({}),
): Promise<Deferred> {
  const timer = createManualTimer();
  const lily = await start({
    ...options,
    adjust: (deps) => ({ ...deps, timer, persistAfterMs: AFTER_MS, ...adjust(deps) }),
  });
  return { lily, timer };
}

/** The files as they are at this moment, opened by a program that begins later. */
function afterDeath({ folder }: Harness, options: HarnessOptions): Promise<Harness> {
  const prepare = (copy: string): void => cpSync(folder, copy, { recursive: true });
  return start({ startMs: LATER, ...options, prepare });
}

/** The turns in flight of the stored states of a session, oldest first. */
async function storedTurns({ storage }: Harness, sessionId: string): Promise<unknown[]> {
  const turns: unknown[] = [];
  for await (const { checkpoint } of storage.checkpointer.list({ configurable: { thread_id: sessionId } }))
    turns.unshift(checkpoint.channel_values["turn"]);
  return turns;
}

/** A first turn, answered. */
async function startedBy(lily: Harness, held: HeldModel) {
  const reply = lily.send("first");
  await held.asked(1);
  held.answer();
  return reply;
}

const status = async (lily: Harness): Promise<unknown> => (await lily.send("/status")).envelope.data;

describe("a turn whose model thinks", () => {
  it("leaves nothing behind when the program dies before the model has thought for long", async () => {
    const held = heldModel();
    const { lily, timer } = await startDeferred({ model: held.model });
    const reply = lily.send("hello", { deliveryId: "d1" });
    await held.asked(1);
    await timer.advance(AFTER_MS - 1);
    const next = await afterDeath(lily, { model: echoModel() });
    expect(await status(next)).not.toHaveProperty("unanswered");
    expect(await next.send("hello", { deliveryId: "d1" })).toMatchObject({ turn: 1, repeated: false });
    held.answer();
    expect(await reply).toMatchObject({ outcome: "answered", turn: 1 });
  });

  it("is told of by the next program once it has thought for long, and is answered when it is sent again", async () => {
    const held = heldModel();
    const { lily, timer } = await startDeferred({ model: held.model });
    const reply = lily.send("hello", { deliveryId: "d1" });
    await held.asked(1);
    await timer.advance(AFTER_MS);
    const next = await afterDeath(lily, { model: echoModel() });
    expect(await status(next)).toMatchObject({ unanswered: { deliveryId: "d1", state: "nothing" } });
    expect(await next.send("hello", { deliveryId: "d1" })).toMatchObject({ turn: 1, repeated: false });
    held.answer();
    expect(await reply).toMatchObject({ outcome: "answered", turn: 1 });
  });

  it("is committed though nothing of it was stored before: the next program finds it in the transcript", async () => {
    const { lily, timer } = await startDeferred({ model: echoModel() });
    await lily.send("one", { deliveryId: "d1" });
    const put = vi.spyOn(lily.storage.checkpointer, "put");
    put.mockImplementation(async (config) => config);
    await lily.send("two", { deliveryId: "d2" });
    const next = await afterDeath(lily, { model: echoModel() });
    const again = await next.send("two", { deliveryId: "d2" });
    expect(again).toMatchObject({ turn: 2, repeated: true, envelope: { message: "two" } });
    expect(await next.send("three")).toMatchObject({ turn: 3, repeated: false });
    expect(timer.pending).toBe(0);
  });

  it("asks its model once, however long it thinks", async () => {
    const held = heldModel();
    const { lily, timer } = await startDeferred({ model: held.model });
    const reply = lily.send("hello");
    await held.asked(1);
    await timer.advance(AFTER_MS);
    await settle();
    held.answer();
    expect(await reply).toMatchObject({ outcome: "answered", envelope: { message: "re: hello" } });
    expect(held.model.calls).toHaveLength(1);
    expect(timer.pending).toBe(0);
  });

  it("fails in the step of its model when the call fails at once, and asks no second time", async () => {
    const model = new ScriptedChatModel([{ text: "half", error: new Error("down") }, "not asked for"]);
    const { lily } = await startDeferred({ model });
    const { sessionId, outcome } = await lily.send("hello", { deliveryId: "d1" });
    expect([outcome, model.calls.length]).toEqual(["failed", 1]);
    const ref = { owner: OWNER, sessionKey: KEY, sessionId };
    expect(await lily.sessions.repository.readFailures(ref)).toMatchObject([
      { deliveryId: "d1", node: "callModel" },
    ]);
  });

  it("waits for the write that has begun, so that what comes after it is stored after it", async () => {
    const held = heldModel();
    const writes: (() => void)[] = [];
    const slow = (persist: SessionDeps["persist"]) => async (threadId: string) => {
      await new Promise<void>((resolve) => writes.push(resolve));
      await persist?.(threadId);
    };
    const { lily, timer } = await startDeferred({ model: held.model }, ({ persist }) => ({
      persist: slow(persist),
    }));
    let isDone = false;
    const reply = lily.send("hello").finally(() => (isDone = true));
    await held.asked(1);
    await timer.advance(AFTER_MS);
    held.answer();
    await settle();
    expect([writes.length, isDone]).toEqual([1, false]);
    writes[0]?.();
    const { sessionId } = await reply;
    expect(await storedTurns(lily, sessionId)).toEqual([null]);
  });

  it("is answered although the write fails; the next one is heard of", async () => {
    const held = heldModel();
    const full = new LilyError("storage_full", "the disk is full");
    const persist = vi.fn<() => Promise<void>>(async () => Promise.reject(full));
    const { lily, timer } = await startDeferred({ model: held.model }, () => ({ persist }));
    const reply = lily.send("hello");
    await held.asked(1);
    await timer.advance(AFTER_MS);
    held.answer();
    expect(await reply).toMatchObject({ outcome: "answered" });
    expect(persist).toHaveBeenCalledOnce();
  });

  it("leaves nothing behind when the storage is closed before it has thought for long", async () => {
    const held = heldModel();
    const { lily } = await startDeferred({ model: held.model });
    const reply = lily.send("hello", { deliveryId: "d1" });
    await held.asked(1);
    await lily.storage.close();
    held.answer();
    expect(await reply).toMatchObject({ outcome: "failed" });
    await lily.restart();
    expect(await status(lily)).not.toHaveProperty("unanswered");
    const other = lily.send("other");
    await held.asked(2);
    held.answer();
    expect(await other).toMatchObject({ outcome: "answered", turn: 1 });
  });

  it("is forgotten when its run is ended before it has thought for long: the next message is answered", async () => {
    const held = heldModel();
    const { lily } = await startDeferred({ model: held.model });
    const { sessionId } = await startedBy(lily, held);
    const run = new AbortController();
    const graph = lily.sessions.graph.invoke(
      { messages: [{ role: "user", content: "lost", id: "d2" }] },
      {
        configurable: { thread_id: sessionId },
        context: { owner: OWNER, sessionKey: KEY, followsHandoff: true, fence: undefined },
        signal: run.signal,
      },
    );
    await held.asked(2);
    run.abort(new Error("the lease was lost"));
    await expect(graph).rejects.toThrow("lease");
    const reply = lily.send("next");
    await held.asked(3);
    held.answer();
    held.answer();
    expect(await reply).toMatchObject({ outcome: "answered", turn: 2 });
  });

  it("is not stored any more once its run was ended, whoever goes on", async () => {
    const held = heldModel();
    const persist = vi.fn<() => Promise<void>>(async () => undefined);
    const { lily, timer } = await startDeferred({ model: held.model }, () => ({ persist }));
    const run = new AbortController();
    const graph = lily.sessions.graph.invoke(
      { messages: [{ role: "user", content: "hello", id: "d1" }] },
      {
        configurable: { thread_id: randomUUID() },
        context: { owner: OWNER, sessionKey: KEY, followsHandoff: true, fence: undefined },
        signal: run.signal,
      },
    );
    await held.asked(1);
    run.abort(new Error("the lease was lost"));
    await expect(graph).rejects.toThrow("lease");
    await timer.advance(AFTER_MS);
    expect(persist).not.toHaveBeenCalled();
  });
});

describe("a turn with tools", () => {
  /** Asks for the tool, and then says what it said. */
  const script = (messages: readonly { readonly type: string; readonly text: string }[]) => {
    const last = messages.at(-1);
    return last?.type === "human"
      ? { toolCalls: [{ id: "c", name: "note", args: {} }] }
      : `told: ${last?.text}`;
  };

  function noting(body: () => Promise<void> = async () => undefined) {
    const ran: string[] = [];
    const note = tool(
      async () => {
        await body();
        return `noted ${ran.push("note")}`;
      },
      { name: "note", description: "Notes.", schema: z.object({}) },
    );
    return { ran, note };
  }

  it("is stored before the tool begins, however soon the model has asked for it", async () => {
    const options = { model: new ScriptedChatModel(script) };
    let died: Harness | undefined;
    const { ran, note } = noting(async () => {
      died ??= await afterDeath(lily, { ...options, adjust: (deps) => ({ ...deps, tools: [note] }) });
    });
    const { lily } = await startDeferred(options, () => ({ tools: [note] }));
    await lily.send("note it", { deliveryId: "d1" });
    expect(died && (await status(died))).toMatchObject({ unanswered: { deliveryId: "d1", state: "begun" } });
    expect(await died?.send("note it", { deliveryId: "d1" })).toMatchObject({ outcome: "answered", turn: 1 });
    expect(ran).toEqual(["note"]);
  });

  it("is stored before the second call of its model: after a crash no tool runs again", async () => {
    const { ran, note } = noting();
    const tools = (deps: SessionDeps) => ({ ...deps, tools: [note] });
    let died: Harness | undefined;
    const model = new ScriptedChatModel(async (messages, index) => {
      if (index === 1) died = await afterDeath(lily, { model: new ScriptedChatModel(script), adjust: tools });
      return script(messages);
    });
    const { lily } = await startDeferred({ model }, () => ({ tools: [note] }));
    await lily.send("note it", { deliveryId: "d1" });
    const again = await died?.send("note it", { deliveryId: "d1" });
    expect(again).toMatchObject({ turn: 1, repeated: false, envelope: { message: "told: noted 1" } });
    expect(ran).toEqual(["note"]);
  });
});
