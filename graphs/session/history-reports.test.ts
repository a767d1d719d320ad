/** Field reports of message history and tool calls, through whole turns, with a model that is as strict as providers are. */
import { type BaseMessage, AIMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import type { ScriptedStep } from "#src/models/testing/scripted-step.ts";
import type { TopicClassifier } from "#src/sessions/decide-rollover.ts";
import { inputOf, latestOf, type Harness, type HarnessOptions } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();
const PICTURE = { type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(400)}` } };

/** What a provider refuses, as the error that it would give. */
function refuse(messages: readonly BaseMessage[]): void {
  let open: string[] = [];
  for (const message of messages) {
    const parts = Array.isArray(message.content) ? message.content : [];
    const isBlank = parts.some((part) => part.type === "text" && String(part["text"]).trim() === "");
    if (isBlank) throw new Error("400 text content blocks must be non-empty");
    if (message.type !== "ai" && message.text.trim() === "" && parts.length === 0)
      throw new Error(`400 a blank ${message.type} message`);
    if (ToolMessage.isInstance(message)) {
      if (!open.includes(message.tool_call_id)) throw new Error("400 a result without its call");
      open = open.filter((id) => id !== message.tool_call_id);
    } else if (open.length > 0) throw new Error(`400 no result for ${open.join()}`);
    if (AIMessage.isInstance(message)) {
      if ((message.invalid_tool_calls ?? []).length > 0) throw new Error("400 arguments are not JSON");
      if (message.text !== "" && message.text.trim() === "") throw new Error("400 blank text beside a call");
      open = (message.tool_calls ?? []).map(({ id = "" }) => id);
    }
  }
}

const strictModel = (steps: readonly (string | ScriptedStep)[]): ScriptedChatModel =>
  new ScriptedChatModel((messages, index) => {
    refuse(messages);
    return steps[index] ?? "fine";
  });

const give = (what: () => unknown) =>
  tool(what, { name: "give", description: "gives", schema: z.object({}) });

async function talk(
  steps: readonly (string | ScriptedStep)[],
  { gives = () => "ok", ...options }: HarnessOptions & { gives?: () => unknown } = {},
): Promise<{ lily: Harness; model: ScriptedChatModel }> {
  const model = strictModel(steps);
  const lily = await start({
    model,
    ...options,
    adjust: (deps) => ({ ...deps, tools: [give(gives)], sleep: async () => undefined }),
  });
  return { lily, model };
}

const call = (args: string, text?: string): ScriptedStep => ({
  ...(text === undefined ? {} : { text }),
  toolCalls: [{ id: "c1", name: "give", args }],
});

describe("field reports of message history", () => {
  it("HI-06 sends no arguments that are not JSON, in the same turn and after a restart", async () => {
    const { lily, model } = await talk([call('{"cmd": "ls'), "sorry"]);
    expect(await lily.send("list it")).toMatchObject({ outcome: "answered", envelope: { message: "sorry" } });
    await lily.restart();
    expect(await lily.send("next")).toMatchObject({ outcome: "answered", turn: 2 });
    expect(model.calls).toHaveLength(3);
  });

  it("HI-07 leaves out blank text beside a call when it is sent, also of turns that are stored", async () => {
    const { lily, model } = await talk([call("{}", " \n"), "done"]);
    expect(await lily.send("go")).toMatchObject({ outcome: "answered" });
    await lily.restart();
    expect(await lily.send("next")).toMatchObject({ outcome: "answered", turn: 2 });
    expect(inputOf(model)).toEqual(["human: go", "ai: ", "tool: ok", "ai: done", "human: next"]);
  });

  it("HI-08 refuses blank messages, and answers a picture without text and what comes after it", async () => {
    const { lily } = await talk([]);
    for (const blank of ["", "  "])
      expect((await lily.send(blank)).envelope).toMatchObject({ ok: false, code: "message_blank" });
    expect(await lily.send([PICTURE])).toMatchObject({ outcome: "answered", turn: 1 });
    await lily.restart();
    expect(await lily.send("hi")).toMatchObject({ outcome: "answered", turn: 2 });
  });

  it.each([
    ["HI-09", "an empty string", () => ""],
    ["HI-09", "nothing", () => undefined],
    ["EN-04", "an object", () => ({ a: 1 })],
  ])("%s goes on when a tool gives %s, and keeps the result in words", async (_id, _what, gives) => {
    const { lily, model } = await talk([call("{}"), "done"], { gives });
    expect((await lily.send("go")).envelope.message).toBe("done");
    await lily.restart();
    expect(await lily.send("next")).toMatchObject({ outcome: "answered" });
    const result = inputOf(model)[2];
    expect(result).toMatch(/^tool: \S/u);
    expect(result).not.toContain("[object Object]");
  });

  it("HI-19 reads a message of parts as its text wherever it goes", async () => {
    const seen: string[] = [];
    const topics: TopicClassifier = {
      classify: async ({ message }) => {
        seen.push(message);
        return { kind: "unknown", why: "not asked" };
      },
    };
    const config = { rollover: { semantic: { enabled: true, minTurns: 1, cooldown: 0 } } };
    const { lily } = await talk([], { topics, config });
    await lily.send("hello");
    await lily.send([{ type: "text", text: "my desk is oak" }, PICTURE]);
    const [, turn] = await lily.turns(latestOf(await lily.chain()).sessionId);
    expect(turn?.messages[0]?.content).toBe("my desk is oak");
    expect(seen.join()).toContain("my desk is oak");
    expect(seen.join()).not.toMatch(/object Object|base64|AAAA/u);
    await lily.send("/new");
    const { envelope } = await lily.send("/recall oak");
    expect(JSON.stringify(envelope)).toContain("my desk is oak");
    expect(JSON.stringify(envelope)).not.toMatch(/object Object|AAAA/u);
  });
});
