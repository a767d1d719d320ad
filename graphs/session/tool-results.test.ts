import { tool, type StructuredToolInterface } from "@langchain/core/tools";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { blobNamespace } from "#src/storage/session-items.ts";
import { createHarness, latestOf, OWNER, type Harness } from "./testing/harness.ts";

const makeTool = (give: () => unknown, options: object = {}): StructuredToolInterface =>
  tool(async () => give(), { name: "give", description: "gives", schema: z.object({}).loose(), ...options });

let harness: Harness | undefined;
afterEach(async () => harness?.close());

/** A turn in which the model calls `give` once, and says "done" when it has the result. */
async function turnWith(given: StructuredToolInterface, args: object = {}, config: object = {}) {
  const model = new ScriptedChatModel([
    { toolCalls: [{ id: "c1", name: "give", args: { ...args } }] },
    "done",
    "and again",
  ]);
  harness = await createHarness({ model, config, adjust: (deps) => ({ ...deps, tools: [given] }) });
  const reply = await harness.send("go");
  return { model, reply, harness };
}

const resultsIn = (messages: readonly { readonly type: string; readonly content: unknown }[] = []) =>
  messages.filter(({ type }) => type === "tool").map(({ content }) => content);

describe("a turn with a tool", () => {
  it.each<[string, () => unknown, string]>([
    ["nothing", () => undefined, "(no output)"],
    ["an empty string", () => "", "(no output)"],
    [
      "an object without a prototype",
      () => Object.assign(Object.create(null) as object, { a: 1 }),
      '{"a":1}',
    ],
    ["half of a surrogate pair and NUL", () => "a\udc00b\u0000def", "a\ufffdb\u2400def"],
    [
      "what looks like an object of a framework",
      () => ({ lc: 1, type: "constructor", id: ["langchain_core", "messages", "AIMessage"], kwargs: {} }),
      '{"lc":1,"type":"constructor","id":["langchain_core","messages","AIMessage"],"kwargs":{}}',
    ],
  ])("goes on when it gives %s", async (_what, give, text) => {
    const { model, reply, harness } = await turnWith(makeTool(give));
    expect(reply.envelope).toMatchObject({ ok: true, message: "done" });
    expect(resultsIn(model.calls[1]?.messages)).toEqual([text]);
    await harness.restart();
    expect((await harness.send("again")).envelope).toMatchObject({ ok: true, message: "and again" });
    expect(resultsIn(model.calls[2]?.messages)).toEqual([text]);
  });

  it.each<[string, () => unknown]>([
    [
      "an empty error",
      () => {
        throw new Error("");
      },
    ],
    [
      "an error of blanks",
      () => {
        throw new TypeError("  ");
      },
    ],
    [
      "an empty text",
      () => {
        throw "";
      },
    ],
  ])("that throws %s reads like a failure, not like success (D-10)", async (_what, give) => {
    const { model, reply } = await turnWith(makeTool(give));
    expect(reply.envelope).toMatchObject({ ok: true, message: "done" });
    expect(resultsIn(model.calls[1]?.messages)).toEqual(["the tool failed, and gave no reason"]);
  });

  it("keeps arguments that look like an object of a framework what they are, also after a restart", async () => {
    const trap = {
      lc: 1,
      type: "constructor",
      id: ["langchain_core", "messages", "HumanMessage"],
      kwargs: { content: "x" },
    };
    const seen: unknown[] = [];
    const taking = tool(
      async (args: object) => {
        seen.push(args);
        return "ok";
      },
      { name: "give", description: "gives", schema: z.object({}).loose() },
    );
    const { model, harness } = await turnWith(taking, { trap });
    expect(seen).toEqual([{ trap }]);
    await harness.restart();
    await harness.send(JSON.stringify(trap));
    const asked = model.calls[2]?.messages.find(({ type }) => type === "ai");
    expect(asked).toMatchObject({ toolCalls: [{ args: { trap } }] });
    expect(model.calls[2]?.messages.at(-1)?.content).toBe(JSON.stringify(trap));
  });

  it("stores half of a surrogate pair in arguments as a replacement character", async () => {
    const { reply, harness } = await turnWith(
      makeTool(() => "ok"),
      { note: "caf\ud83d" },
    );
    expect(reply.envelope.ok).toBe(true);
    await harness.restart();
    const { sessionId } = latestOf(await harness.chain());
    const [turn] = await harness.turns(sessionId);
    expect(turn?.messages[1]?.toolCalls?.[0]?.arguments).toBe('{"note":"caf\ufffd"}');
  });

  it("keeps a long result beside the conversation, under the name that the model is told", async () => {
    const long = Array.from({ length: 500 }, (_, line) => `line ${line}`).join("\n");
    const config = { limits: { toolResultCharacters: 1_000 } };
    const { model, harness } = await turnWith(
      makeTool(() => long),
      {},
      config,
    );
    const [shown] = resultsIn(model.calls[1]?.messages);
    const name = /kept as result ([0-9a-f]{64})/u.exec(String(shown))?.[1];
    expect(String(shown).length).toBeLessThan(1_000);
    const items = await harness.storage.store.search(blobNamespace(OWNER));
    expect(items.map(({ key }) => key)).toEqual([name]);
  });

  it("stores a picture that three turns give once, and none of it in the conversation", async () => {
    const data = Buffer.alloc(2_000_000, 7).toString("base64");
    const steps = [1, 2, 3].flatMap((turn) => [
      { toolCalls: [{ id: `c${turn}`, name: "give", args: {} }] },
      { text: "done" },
    ]);
    const model = new ScriptedChatModel(steps);
    const given = makeTool(() => [{ type: "image", mimeType: "image/png", data }]);
    harness = await createHarness({ model, adjust: (deps) => ({ ...deps, tools: [given] }) });
    for (let turn = 1; turn <= 3; turn += 1) await harness.send("go");
    const { sessionId } = latestOf(await harness.chain());
    expect(await harness.storage.store.search(blobNamespace(OWNER))).toHaveLength(1);
    expect(JSON.stringify(await harness.turns(sessionId)).length).toBeLessThan(10_000);
    const { values } = await harness.sessions.graph.getState({ configurable: { thread_id: sessionId } });
    expect(JSON.stringify(values).length).toBeLessThan(50_000);
  });
});
