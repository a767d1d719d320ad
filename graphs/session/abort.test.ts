/** What ends a turn early, by the rule in `call-guard.ts`. */
import { AIMessageChunk } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { lockName } from "#src/sessions/session-key.ts";
import { compileSessionGraph } from "./graph.ts";
import { createSessionRunner } from "./local.ts";
import { inputOf, KEY, latestOf, OWNER, type Harness } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();
const never = new Promise<never>(() => undefined);
const schema = z.object({});
const callsOf = (...calls: (readonly [id: string, name: string])[]) => ({
  toolCalls: calls.map(([id, name]) => ({ id, name, args: "{}" })),
});

/** A tool that ignores its signal and answers when the test says so. */
function deafTool(onRun: () => void) {
  let answer: (text: string) => void = () => undefined;
  const answered = new Promise<string>((resolve) => (answer = resolve));
  const deaf = tool(
    async () => {
      onRun();
      return answered;
    },
    { name: "deaf", description: "listens to nobody", schema },
  );
  return { answer, adjust: (deps: SessionDeps): SessionDeps => ({ ...deps, tools: [deaf] }) };
}

async function turnsOf(lily: Harness) {
  return lily.turns(latestOf(await lily.chain()).sessionId);
}

describe("the user's stop", () => {
  it("HI-18 does not wait for a tool that ignores it, and its late result goes nowhere", async () => {
    const stop = new AbortController();
    const { answer, adjust } = deafTool(() => stop.abort());
    const model = new ScriptedChatModel([callsOf(["c1", "deaf"], ["c2", "deaf"]), "going on"]);
    const lily = await start({ model, adjust });
    const stopped = await lily.send("wait for it", { stop: stop.signal });
    expect(stopped).toMatchObject({ outcome: "answered", status: "stopped", turn: 1 });
    const before = await turnsOf(lily);
    answer("late");
    await lily.send("go on");
    expect((await turnsOf(lily)).slice(0, 1)).toEqual(before);
    expect(inputOf(model).filter((line) => line.startsWith("tool:"))).toEqual([
      "tool: stopped by the user before it ended",
      "tool: stopped by the user before it ended",
    ]);
    expect(model.calls).toHaveLength(2);
  });

  it("does not wait for a model that ignores it, and keeps what it wrote", async () => {
    const stop = new AbortController();
    let pieces = 0;
    const model = new ScriptedChatModel([{ chunks: ["The ", "total"], delayMs: 1 }], {
      sleep: async () => ((pieces += 1) === 2 ? never : undefined),
    });
    const lily = await start({ model });
    const stopped = await lily.send("count", {
      stop: stop.signal,
      onEvent: (event) => event.type === "token" && stop.abort(),
    });
    expect(stopped).toMatchObject({ status: "stopped", envelope: { message: "The " } });
  });

  it("marks the answer of a model that ends as if it had said all", async () => {
    const stop = new AbortController();
    class Quiet extends ScriptedChatModel {
      override async *_streamIterator(): AsyncGenerator<AIMessageChunk> {
        yield new AIMessageChunk("The tot");
        stop.abort();
      }
    }
    const lily = await start({ model: new Quiet() });
    expect(await lily.send("sum", { stop: stop.signal })).toMatchObject({ status: "stopped" });
    const [turn] = await turnsOf(lily);
    expect(turn?.messages.map(({ content }) => content)).toEqual(["sum", "The tot"]);
  });

  it("ends the wait before a retry at once, and keeps the question", async () => {
    const stop = new AbortController();
    const busy = Object.assign(new Error("busy"), { status: 503 });
    const model = new ScriptedChatModel([{ error: busy }]);
    const adjust = (deps: SessionDeps): SessionDeps => ({
      ...deps,
      sleep: async (ms, signal) => {
        if (ms > 30_000) return;
        stop.abort();
        signal?.throwIfAborted();
      },
    });
    const lily = await start({ model, adjust });
    expect(await lily.send("hello", { stop: stop.signal })).toMatchObject({ status: "stopped", turn: 1 });
    expect(model.calls).toHaveLength(1);
    expect((await turnsOf(lily))[0]).toMatchObject({
      messages: [{ role: "user", content: "hello" }, { role: "assistant" }],
      explanation: { attempts: [{ model: "scripted:test", kind: "overloaded" }] },
    });
  });

  it("DL-14 drops half a tool call that an aborted stream left, and gives it no result", async () => {
    const stop = new AbortController();
    let pieces = 0;
    const model = new ScriptedChatModel(
      [{ chunks: ["The tot"], toolCalls: [{ id: "c1", name: "f", args: '{"que' }], delayMs: 1 }, "ok"],
      // The text and half the call come, then nothing more.
      { sleep: async () => ((pieces += 1) === 3 ? stop.abort() : undefined) },
    );
    const lily = await start({ model });
    expect(await lily.send("sum", { stop: stop.signal })).toMatchObject({ status: "stopped" });
    const [turn] = await turnsOf(lily);
    expect(turn?.messages.map(({ role, toolCalls }) => [role, toolCalls])).toEqual([
      ["user", undefined],
      ["assistant", undefined],
    ]);
  });
});

describe("the end of the run", () => {
  it("commits nothing, and leaves the turn to the next message", async () => {
    const lost = new AbortController();
    const { adjust } = deafTool(() => lost.abort(new LilyError("lease_lost", "the lease was lost")));
    const model = new ScriptedChatModel([callsOf(["c1", "deaf"]), "here I am"]);
    const lily = await start({ model, adjust });
    await lily.send("/title A talk");
    const { sessionId } = latestOf(await lily.chain());
    const { deps, storage } = lily;
    const runner = createSessionRunner(() => compileSessionGraph(deps, storage), storage.checkpointer);
    const lease = await storage.locks.acquire(lockName({ owner: OWNER, sessionKey: KEY }));
    const run = runner.run({
      threadId: sessionId,
      owner: OWNER,
      sessionKey: KEY,
      message: { id: "cut", content: "use it" },
      fence: lease,
      signal: lost.signal,
    });
    await expect(run).rejects.toMatchObject({ code: "lease_lost" });
    await lease.release();
    expect(await lily.turns(sessionId)).toHaveLength(1);
    expect(await lily.send("hello?")).toMatchObject({ outcome: "answered", turn: 3 });
    expect((await lily.turns(sessionId))[1]).toMatchObject({ status: "interrupted", deliveryId: "cut" });
  });
});
