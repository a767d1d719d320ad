import { tool } from "@langchain/core/tools";
import { GraphInterrupt } from "@langchain/langgraph";
import { afterEach, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { verifyOwner } from "#src/sessions/verify.ts";
import { noAnswerText, notRunText } from "./budget.ts";
import { inputOf, KEY, latestOf, OWNER, type Harness } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();
afterEach(() => void vi.useRealTimers());

const callsOf = (...ids: string[]) => ({ toolCalls: ids.map((id) => ({ id, name: "count", args: "{}" })) });

/** A tool that counts how often it ran, and the change of dependencies that offers it. */
function counter(onRun: (signal: AbortSignal | undefined) => unknown = () => "counted") {
  const ran: string[] = [];
  const count = tool(
    async (_input, config) => {
      ran.push("count");
      return onRun(config.signal);
    },
    { name: "count", description: "counts", schema: z.object({}) },
  );
  return { ran, adjust: (deps: SessionDeps): SessionDeps => ({ ...deps, tools: [count] }) };
}

/** Lets the time of a turn, `ms`, pass when the test says so. */
function passTime(lily: Harness, ms: number): void {
  lily.clock.advance(ms);
  vi.advanceTimersByTime(ms);
}

async function lastTurn(lily: Harness) {
  return (await lily.turns(latestOf(await lily.chain()).sessionId)).at(-1);
}

describe("a turn whose run may take few steps", () => {
  /** Asks for tools as long as it is offered some. */
  const loopingModel = (calls: number): ScriptedChatModel => {
    const model: ScriptedChatModel = new ScriptedChatModel((_messages, index) =>
      (model.calls.at(-1)?.toolNames ?? []).length > 0
        ? callsOf(...Array.from({ length: calls }, (_, n) => `c${index}-${n}`))
        : "what I have",
    );
    return model;
  };

  it.each([1, 5].flatMap((calls) => [6, 8, 9, 13].map((steps) => [steps, calls] as const)))(
    "of %i steps is answered with what it has, and says so: %i calls at once (S-12)",
    async (recursionLimit, calls) => {
      const { adjust, ran } = counter();
      const lily = await start({ model: loopingModel(calls), adjust });
      const { sessionId } = await lily.send("/status");
      const thread = sessionId === "" ? "0b1e7a3c-6a3f-4c1a-9d55-0a0a0a0a0a0a" : sessionId;
      const on = {
        configurable: { thread_id: thread },
        context: { owner: OWNER, sessionKey: KEY },
        recursionLimit,
      };
      for (const content of ["count", "again"]) {
        const messages = [{ role: "user" as const, content }];
        const { reply } = await lily.sessions.graph.invoke({ messages }, on);
        expect(reply).toMatchObject({ outcome: "answered", envelope: { message: "what I have" } });
        const record = await lastTurn(lily);
        if (ran.length === 0) continue;
        expect(reply?.notice).toContain(`${recursionLimit} steps`);
        expect(record).toMatchObject({ status: "limited", explanation: { limit: { kind: "steps" } } });
      }
      expect(ran.length > 0).toBe(recursionLimit >= (calls === 1 ? 8 : 9));
    },
  );
});

describe("a turn that has used its tool calls", () => {
  it("runs no further one, has a result for each of 100 calls, and is answered without tools", async () => {
    const { ran, adjust } = counter();
    const ids = Array.from({ length: 100 }, (_, index) => `c${index}`);
    const model = new ScriptedChatModel([callsOf(...ids), "what I have", "later"]);
    const lily = await start({ model, adjust });
    const reply = await lily.send("count to 100");
    const limit = { kind: "toolCalls", used: 24, limit: 24 } as const;
    expect(reply).toMatchObject({
      outcome: "answered",
      status: "limited",
      envelope: { ok: true, message: "what I have" },
      notice: expect.stringContaining("24 tool calls"),
    });
    expect(ran).toHaveLength(24);
    expect(model.calls[1]?.toolNames).toEqual([]);
    expect(model.calls[1]?.messages.flatMap(({ toolCallId }) => toolCallId ?? [])).toEqual(ids);
    const record = await lastTurn(lily);
    expect(record).toMatchObject({ status: "limited", explanation: { limit } });
    expect(record?.messages.filter(({ content }) => content === notRunText(limit))).toHaveLength(76);
    expect(await lily.send("and now?")).toMatchObject({ status: "completed", turn: 2 });
    expect(model.calls[2]?.toolNames).toContain("count");
    expect((await verifyOwner(lily.sessions.repository, OWNER)).ok).toBe(true);
  });

  it("is not limited by exactly as many calls as it may make", async () => {
    const { adjust } = counter();
    const model = new ScriptedChatModel([callsOf("a", "b"), "done"]);
    const lily = await start({ model, adjust, config: { limits: { toolCalls: 2 } } });
    const reply = await lily.send("go");
    expect(reply).toMatchObject({ status: "completed", envelope: { message: "done" } });
    expect(reply.notice).toBeUndefined();
  });

  it("is told the same when its delivery is repeated", async () => {
    const { adjust } = counter();
    const model = new ScriptedChatModel([callsOf("a", "b"), "done"]);
    const lily = await start({ model, adjust, config: { limits: { toolCalls: 1 } } });
    const reply = await lily.send("go", { deliveryId: "d" });
    expect(reply.status).toBe("limited");
    expect(await lily.send("go", { deliveryId: "d" })).toEqual({ ...reply, repeated: true });
  });
});

describe("a turn that has used its model calls", () => {
  it("is offered no tools with the last one, whose answer ends it", async () => {
    const { adjust } = counter();
    const model = new ScriptedChatModel((_messages, index) => (index < 7 ? callsOf(`c${index}`) : "enough"));
    const lily = await start({ model, adjust });
    expect(await lily.send("loop")).toMatchObject({
      status: "limited",
      envelope: { message: "enough" },
      notice: expect.stringContaining("8 model calls"),
    });
    expect(model.calls.at(-1)?.toolNames).toEqual([]);
  });

  it("ends plainly when the model asks for tools all the same, with what it wrote beside them", async () => {
    const { ran, adjust } = counter();
    const model = new ScriptedChatModel((_messages, index) => ({
      ...callsOf(`c${index}`),
      ...(index === 7 ? { text: "half a thought" } : {}),
    }));
    const lily = await start({ model, adjust });
    expect(await lily.send("loop")).toMatchObject({
      outcome: "answered",
      status: "limited",
      envelope: { message: "half a thought" },
    });
    expect(model.calls).toHaveLength(8);
    expect(ran).toHaveLength(7);
  });

  it("is completed when it needed only the one that it has", async () => {
    const lily = await start({ model: new ScriptedChatModel(["hi"]), config: { limits: { modelCalls: 1 } } });
    expect(await lily.send("hello")).toMatchObject({ status: "completed", envelope: { message: "hi" } });
  });
});

describe("the largest limits", () => {
  it("fit into the steps that one run may take", async () => {
    const { ran, adjust } = counter();
    // The model's last call but one meets the end of the tool calls.
    const model = new ScriptedChatModel((_messages, index) => {
      if (index === 39) return "the end";
      const calls = index < 12 ? [`a${index}`, `b${index}`] : [`a${index}`];
      return callsOf(...calls);
    });
    const config = { limits: { modelCalls: 40, toolCalls: 50, turnTokens: 0 } };
    const lily = await start({ model, adjust, config });
    expect(await lily.send("work")).toMatchObject({ status: "limited", envelope: { message: "the end" } });
    expect(model.calls).toHaveLength(40);
    expect(ran).toHaveLength(50);
  });
});

describe("a turn that has used its tokens", () => {
  it("asks neither tools nor model again, and keeps the history valid", async () => {
    const { ran, adjust } = counter();
    const model = new ScriptedChatModel([callsOf("a", "b"), "later"]);
    const lily = await start({ model, adjust, config: { limits: { turnTokens: 10 } } });
    const reply = await lily.send("go");
    expect(reply).toMatchObject({ outcome: "answered", status: "limited" });
    expect(reply.envelope.message).toMatch(/^\[no answer: .*\(10 tokens\)\]$/u);
    expect(ran).toEqual([]);
    expect((await lastTurn(lily))?.messages.map(({ role }) => role)).toEqual([
      "user",
      "assistant",
      "tool",
      "tool",
      "assistant",
    ]);
    await lily.send("and now?");
    expect(inputOf(model).at(-1)).toBe("human: and now?");
  });

  it("is completed when the call that used them answered", async () => {
    const lily = await start({
      model: new ScriptedChatModel(["hi"]),
      config: { limits: { turnTokens: 10 } },
    });
    expect(await lily.send("hello")).toMatchObject({ status: "completed" });
  });
});

describe("a turn that has used its time", () => {
  const config = { limits: { turnMs: 60_000 } };

  it("keeps what its model has written, marked for the caller and for later model calls", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
    const hang = new Promise<void>(() => undefined);
    let delays = 0;
    const model: ScriptedChatModel = new ScriptedChatModel(
      (_messages, index) => (index === 0 ? { chunks: ["Once ", "upon"], delayMs: 1 } : "yes"),
      // The second piece never comes, whatever the signal says.
      { sleep: async () => ((delays += 1) === 2 ? hang : undefined) },
    );
    const lily: Harness = await start({
      model,
      config,
    });
    const reply = await lily.send("a tale", {
      onEvent: (event) => event.type === "token" && passTime(lily, 60_000),
    });
    expect(reply).toMatchObject({
      outcome: "answered",
      status: "limited",
      envelope: { message: "Once " },
      notice: expect.stringContaining("60 seconds"),
    });
    expect((await lastTurn(lily))?.explanation.limit).toMatchObject({ kind: "time", limit: 60_000 });
    await lily.send("go on");
    expect(inputOf(model)[1]).toBe("ai: Once  [the time limit ended this answer]");
  });

  it("does not wait for a tool that ignores its signal, runs no other, and ends", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true });
    const { ran, adjust } = counter(() => {
      queueMicrotask(() => passTime(lily, 60_000));
      return new Promise(() => undefined);
    });
    const model = new ScriptedChatModel([callsOf("a", "b")]);
    const lily: Harness = await start({
      model,
      config,
      adjust,
    });
    const reply = await lily.send("go");
    expect(reply).toMatchObject({ status: "limited", notice: expect.stringContaining("limits.turnMs") });
    expect(ran).toHaveLength(1);
    const record = await lastTurn(lily);
    const [, , first, second, last] = record?.messages ?? [];
    expect(first?.content).toContain("ended by the time limit");
    expect(second?.content).toContain("not run: the budget of this turn is used up (60 seconds)");
    expect(last?.content).toBe(noAnswerText({ kind: "time", used: 60_000, limit: 60_000 }));
  });

  it("does not count the time between two deliveries of the same turn, after a crash", async () => {
    const { adjust } = counter();
    const model = new ScriptedChatModel((messages) =>
      messages.at(-1)?.type === "tool" ? "the end" : messages.length > 3 ? callsOf("a") : "hi",
    );
    const lily = await start({ model, config, adjust });
    const { sessionId } = await lily.send("hello");
    await lily.crashBefore("runTools", { threadId: sessionId, deliveryId: "d", text: "go" });
    lily.clock.advance(3_600_000);
    expect(await lily.send("go", { deliveryId: "d" })).toMatchObject({
      status: "completed",
      envelope: { message: "the end" },
    });
  });
});

describe("what a turn has used", () => {
  it("is not forgotten by a crash", async () => {
    const { ran, adjust } = counter(() => {
      if (ran.length === 2) throw new GraphInterrupt();
      return "counted";
    });
    const model = new ScriptedChatModel([callsOf("a", "b"), callsOf("c", "d"), "the end"]);
    const lily = await start({ model, adjust, config: { limits: { toolCalls: 2 } } });
    // It waits in its second call, and the process ends there.
    expect(await lily.send("go", { deliveryId: "d" })).toMatchObject({ envelope: { code: "turn_waiting" } });
    await lily.restart();
    expect(await lily.send("go", { deliveryId: "d" })).toMatchObject({
      status: "limited",
      envelope: { message: "the end" },
    });
    const results = (await lastTurn(lily))?.messages.filter(({ role }) => role === "tool");
    expect(results?.map(({ content }) => content.split(":")[0])).toEqual([
      "counted",
      "interrupted",
      "counted",
      "not run",
    ]);
  });
});
