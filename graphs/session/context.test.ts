/** What a model is given: one budget for every call, a receipt for each, and nothing that leaves without a word. */
import { tool } from "@langchain/core/tools";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { messageTokens } from "#src/context/shown-messages.ts";
import { estimateTokens } from "#src/kernel/text.ts";
import { createOpenAIChatModels } from "#src/models/openai-chat-models.ts";
import { startFakeOpenAIServer, type FakeOpenAIServer } from "#src/models/testing/fake-openai-server.ts";
import { deltaFrame } from "#src/models/testing/fake-openai-wire.ts";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { tokensIn } from "#src/sessions/call-receipt.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { verifyOwner } from "#src/sessions/verify.ts";
import { echoModel, inputOf, OWNER, systemOf, type Harness, type HarnessOptions } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();

/** Tokens of the messages of a call, by the same count as the budget. */
function sentTokens(model: ScriptedChatModel, call = model.calls.length - 1): number {
  return (model.calls[call]?.messages ?? []).reduce(
    (sum, message) => sum + messageTokens({ content: JSON.stringify(message.content) }),
    0,
  );
}

const latestTurn = async (lily: Harness): Promise<TurnRecord> => {
  const turn = (await lily.turns((await lily.chain()).latest)).at(-1);
  if (turn === undefined) throw new Error("no turn");
  return turn;
};

const dump = (characters: number) =>
  tool(({ count }) => `${count}:${"data ".repeat(characters / 5)}`, {
    name: "dump",
    description: "dumps",
    schema: z.object({ count: z.number() }),
  });

/** Calls `dump` so many times, one a step, and then answers. */
const dumping = (times: number) =>
  new ScriptedChatModel((messages) => {
    const done = messages
      .slice(messages.findLastIndex(({ type }) => type === "human"))
      .filter(({ type }) => type === "tool").length;
    return done >= times ? "done" : { toolCalls: [{ id: `c${done}`, name: "dump", args: { count: done } }] };
  });

const withTool = (characters: number): Pick<HarnessOptions, "adjust"> => ({
  adjust: (deps) => ({ ...deps, tools: [dump(characters)] }),
});

describe("a conversation that has outgrown the context", () => {
  it("C-1 tells in the prompt, in short, of turns that are left out, and the tool finds them", async () => {
    const model = new ScriptedChatModel((messages) => {
      const last = messages.at(-1);
      if (last?.type === "human" && last.text === "what is the code word?")
        return {
          toolCalls: [
            { id: "r", name: "session_recall", args: { query: "vault code word", rationale: "asked" } },
          ],
        };
      return last?.type === "tool" ? `found: ${last.text}` : "noted";
    });
    const lily = await start({ model, config: { limits: { contextTokens: 900 } } });
    await lily.send("The vault code word is ZEBRA-7");
    for (let turn = 2; turn <= 15; turn += 1)
      await lily.send(`message ${turn} ${"of some length ".repeat(12)}`);
    expect(systemOf(model)).toContain("turn 1: “The vault code word is ZEBRA-7”");
    const reply = await lily.send("what is the code word?");
    expect(systemOf(model)).toMatch(
      /\n\(\d+ older quotations have no room here; recall finds them\)\n<\/summary>/u,
    );
    expect(reply.envelope.message).toContain("ZEBRA-7");
    expect(JSON.stringify(await lily.send("/recall vault"))).toContain("ZEBRA-7");
  });

  it("C-4 gives a turn that is too big in short, and the smaller ones before it", async () => {
    const model = echoModel();
    const lily = await start({ model, config: { limits: { contextTokens: 1_500 } } });
    for (const text of ["one", "two", "three"]) await lily.send(text);
    const fits = "paragraph of a text\n".repeat(180);
    await lily.send(fits);
    await lily.send("and now?");
    const input = inputOf(model);
    expect(input.slice(0, 6)).toEqual([
      "human: one",
      "ai: one",
      "human: two",
      "ai: two",
      "human: three",
      "ai: three",
    ]);
    expect(input[6]).toMatch(/characters left out/u);
    expect((await latestTurn(lily)).explanation.calls?.[0]?.cuts).toContainEqual({
      what: "turns",
      rule: "shortened",
      count: 1,
    });
  });

  it.each([1_000, 2_000])(
    "stays within a budget of %i tokens, and its beginning moves seldom",
    async (contextTokens) => {
      const model = echoModel();
      const lily = await start({ model, config: { limits: { contextTokens } } });
      const beginnings: string[] = [];
      for (let turn = 1; turn <= 30; turn += 1) {
        await lily.send(`turn ${turn} says ${"this and that ".repeat(turn % 9)}`);
        expect(sentTokens(model)).toBeLessThanOrEqual(contextTokens);
        beginnings.push(JSON.stringify(model.calls.at(-1)?.messages.slice(0, 2)));
      }
      const moves = beginnings.filter((text, index) => index > 1 && text !== beginnings[index - 1]).length;
      expect(moves).toBeLessThanOrEqual(14);
      const turns = await lily.turns((await lily.chain()).latest);
      const calls = turns.flatMap(({ explanation }) => explanation.calls ?? []);
      expect(calls).toHaveLength(30);
      for (const call of calls) expect(tokensIn(call)).toBeLessThanOrEqual(contextTokens);
      expect((await verifyOwner(lily.sessions.repository, OWNER)).ok).toBe(true);
    },
  );

  it("refuses a message that no plan can give the model, with its size, and stores nothing of it", async () => {
    const lily = await start({ model: echoModel(), config: { limits: { contextTokens: 1_000 } } });
    const reply = await lily.send("long ".repeat(2_000));
    expect(reply).toMatchObject({ outcome: "refused", turn: null, envelope: { code: "message_too_large" } });
    expect(reply.envelope.message).toMatch(/about 2504 tokens.*at most 1000/u);
    expect(await lily.send("short")).toMatchObject({ turn: 1 });
  });

  it("is planned anew for a model with a smaller window, and again for the larger one", async () => {
    const [large, small] = [echoModel(), echoModel()];
    const lily = await start({
      models: { "scripted:gpt-4o": large, "scripted:llama2": small },
      config: { agents: { defaults: { model: "scripted:gpt-4o" } } },
    });
    for (let turn = 1; turn <= 12; turn += 1) await lily.send(`turn ${turn} ${"and so on ".repeat(120)}`);
    await lily.send("/model scripted:llama2");
    await lily.send("shorter?");
    expect(sentTokens(small)).toBeLessThanOrEqual(3_072);
    await lily.send("/model scripted:gpt-4o");
    await lily.send("longer?");
    expect(inputOf(large)[0]).toMatch(/^human: turn 1 /u);
  });
});

describe("a tool loop", () => {
  it("C-2 keeps every call within the budget: results that were read become a line that read_result takes", async () => {
    const model = dumping(20);
    const lily = await start({ model, config: { limits: { modelCalls: 30 } }, ...withTool(15_600) });
    await lily.send("dump it all");
    expect(model.calls).toHaveLength(21);
    for (const call of model.calls.keys()) expect(sentTokens(model, call)).toBeLessThanOrEqual(12_000);
    const { messages = [] } = model.calls.at(-1) ?? {};
    expect(JSON.stringify(messages)).toMatch(
      /result of dump left out: \d+ characters; read_result reads it by the name [\w-]+\.1\.1\]/u,
    );
    expect(messages.filter(({ type }) => type === "tool")).toHaveLength(20);
  });

  it("C-2 reads a collapsed result on, in the same turn and in a later one", async () => {
    const names: string[] = [];
    const model = new ScriptedChatModel((messages) => {
      const text = JSON.stringify(messages.map(({ content }) => content));
      const name = /by the name ([\w-]+\.1\.1)/u.exec(text)?.[1];
      const last = messages.at(-1);
      if (last?.type === "tool" && last.text.startsWith("[characters 5 to 15")) return last.text;
      if (name !== undefined && last?.type === "human") {
        names.push(name);
        return { toolCalls: [{ id: "r", name: "read_result", args: { name, from: 5, length: 10 } }] };
      }
      const done = messages.filter(({ type }) => type === "tool").length;
      return done >= 6 ? "done" : { toolCalls: [{ id: `c${done}`, name: "dump", args: { count: done } }] };
    });
    const lily = await start({ model, ...withTool(15_600) });
    await lily.send("dump");
    const reply = await lily.send("what was in the first?");
    expect(names).toHaveLength(1);
    expect(reply.envelope.message).toMatch(/^\[characters 5 to 15 of 15602; go on from 15\]\n/u);
  });

  it("C-3 has a receipt for every call, with tool calls and results in it", async () => {
    const model = dumping(3);
    const lily = await start({ model, ...withTool(4_000) });
    await lily.send("dump");
    const { calls = [] } = (await latestTurn(lily)).explanation;
    expect(calls.map(({ tokens }) => (tokens["steps"] ?? 0) > 1_000)).toEqual([false, true, true, true]);
    const why = await lily.send("/why");
    expect(why.envelope.message).toMatch(/call 4: scripted:test, about [\d,]+ of 12,000 tokens/u);
    expect(JSON.stringify(calls).length).toBeLessThan(4_000);
    const shown = await lily.send("/context");
    expect(shown.envelope.text).toMatch(/\| steps with tools \| [\d,]+ \| █+ \|/u);
    expect(shown.envelope.message).toContain("beginning: the same as in the call before");
  });
});

describe("a prompt", () => {
  it("shares all but its last part with the one before it", async () => {
    const model = echoModel();
    const lily = await start({ model });
    await lily.send("/remember I am vegetarian");
    for (const text of ["one", "two", "three"]) {
      lily.clock.advance(61_000);
      await lily.send(text);
    }
    const [before, now] = model.calls
      .slice(-2)
      .map(({ messages }) => messages.map((message) => JSON.stringify(message)));
    const isNotes = (text: string): boolean => text.includes("<notes>") && text.includes("It is ");
    const kept = (before ?? []).findIndex(isNotes);
    expect(kept).toBeGreaterThan(0);
    expect(now?.slice(0, kept)).toEqual(before?.slice(0, kept));
  });

  it("of a call that its server found too long is planned again with half of it, and the receipt says so", async () => {
    const tooLong = Object.assign(new Error("This model's maximum context length is 4096 tokens"), {
      status: 400,
    });
    let refusals = 0;
    const model = new ScriptedChatModel((messages) => {
      const size = messages.reduce((sum, { text }) => sum + text.length, 0);
      if (size < 16_000) return "ok";
      refusals += 1;
      return { error: tooLong };
    });
    const lily = await start({ model });
    for (let turn = 1; turn <= 7; turn += 1) await lily.send(`turn ${turn} ${"long ".repeat(600)}`);
    expect(refusals).toBeGreaterThan(0);
    const turns = await lily.turns((await lily.chain()).latest);
    expect(turns).toHaveLength(7);
    const calls = turns.flatMap(({ explanation }) => explanation.calls ?? []);
    expect(calls.some(({ afterTooLong }) => afterTooLong === true)).toBe(true);
    expect(refusals).toBe(1);
  });
});

describe("what /why --prompt shows", () => {
  let server: FakeOpenAIServer;
  beforeEach(async () => {
    server = await startFakeOpenAIServer();
  });
  afterEach(() => server.close());

  interface Sent {
    readonly role: string;
    readonly content: unknown;
    readonly tool_calls?: readonly { id: string; function: { name: string; arguments: string } }[];
    readonly tool_call_id?: string;
  }

  it("is what the server received, byte for byte, for every call of a turn, also after a restart", async () => {
    const asks = (id: string, count: number) =>
      ({ kind: "toolCalls", calls: [{ id, name: "dump", arguments: JSON.stringify({ count }) }] }) as const;
    server.enqueue({ kind: "text", chunks: ["hel", "lo"] }, asks("a", 1), asks("b", 2), asks("c", 3), {
      kind: "text",
      chunks: ["done 🦊"],
    });
    server.always({ kind: "text", chunks: ["ok"] });
    const lily = await start({
      config: { agents: { defaults: { model: "openai:fake" } }, limits: { contextTokens: 4_000 } },
      adjust: (deps) => ({
        ...deps,
        models: createOpenAIChatModels({ baseURL: server.baseURL }),
        tools: [dump(7_000)],
      }),
    });
    await lily.send("/remember I am vegetarian");
    await lily.send("/todo buy 猫 food");
    await lily.send("hi\n```ts\nconst a = 1;\n```");
    await lily.send("dump it");
    await lily.send("thanks");
    await lily.restart();
    const asked: [turn: number, call: number][] = [
      [3, 1],
      [4, 1],
      [4, 2],
      [4, 3],
      [4, 4],
      [5, 1],
    ];
    const chats = server.requests.filter(({ path }) => path.endsWith("/chat/completions"));
    expect(chats).toHaveLength(asked.length);
    await lily.send("/style like a pirate");
    for (const [index, [turn, call]] of asked.entries()) {
      const { envelope } = await lily.send(`/why ${turn} --prompt ${call}`);
      const shown = envelope.data?.["messages"] as {
        role: string;
        content: string;
        toolCalls?: { id: string; name: string; arguments: string }[];
        toolCallId?: string;
      }[];
      const { messages = [] } = (chats[index]?.body ?? {}) as { messages?: Sent[] };
      expect(envelope.data).toMatchObject({ isExact: true, turn, call });
      expect(
        shown.map(({ role, content, toolCalls, toolCallId }) => ({ role, content, toolCalls, toolCallId })),
      ).toEqual(
        messages.map(({ role, content, tool_calls: calls, tool_call_id: toolCallId }) => ({
          role,
          content: content ?? "",
          toolCalls: calls?.map(({ id, function: { name, arguments: args } }) => ({
            id,
            name,
            arguments: args,
          })),
          toolCallId,
        })),
      );
      for (const { content } of shown) expect(envelope.message).toContain(content);
    }
  });

  it("has the thoughts that go back with steps within the budget, with the steps that they are of, and says that they are not kept", async () => {
    const contextTokens = 3_000;
    let asked = 0;
    server.always((body) => {
      const { messages = [] } = body as { messages?: Sent[] };
      const steps = messages.slice(messages.findLastIndex(({ role }) => role === "user")).length - 1;
      if (steps >= 12) return { kind: "text", chunks: ["done"] };
      asked += 1;
      const call = { index: 0, id: `c${asked}`, function: { name: "dump", arguments: `{"count":${asked}}` } };
      return {
        kind: "frames",
        frames: [
          deltaFrame({ reasoning_content: `thought ${asked} ${"hm ".repeat(3_000)}` }, "fake"),
          deltaFrame({ tool_calls: [call] }, "fake", "tool_calls"),
          "data: [DONE]\n\n",
        ],
      };
    });
    const lily = await start({
      config: { agents: { defaults: { model: "openai:fake" } }, limits: { contextTokens, modelCalls: 30 } },
      adjust: (deps) => ({
        ...deps,
        models: createOpenAIChatModels({ baseURL: server.baseURL }),
        tools: [dump(100)],
      }),
    });
    for (const text of ["dump", "and again"]) await lily.send(text);
    expect(server.requests.length).toBeGreaterThan(12);
    for (const { body } of server.requests) {
      const messages = (body as { messages: (Sent & { reasoning_content?: string })[] }).messages;
      const tokens = messages.map((message) => estimateTokens(JSON.stringify(message)));
      expect(tokens.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(contextTokens);
      const asks = messages.findLastIndex(({ role }) => role === "user");
      for (const [index, { reasoning_content: thought, tool_calls: [call] = [] }] of messages.entries()) {
        if (index < asks) expect(thought).toBeUndefined();
        else if (thought !== undefined)
          expect(thought).toMatch(new RegExp(`^thought ${call?.id.slice(1)} `, "u"));
      }
    }
    expect((await lily.send("/why 1 --prompt")).envelope.message).toMatch(
      /What it had thought before \d+ steps with tools went back to it and is not kept\./u,
    );
  });
});
