import {
  AIMessage,
  HumanMessage,
  RemoveMessage,
  SystemMessage,
  ToolMessage,
  type BaseMessage,
} from "@langchain/core/messages";
import { JsonPlusSerializer } from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StateSerde } from "./state-serde.ts";

const serde = new StateSerde();
const throughText = (value: unknown): unknown => serde.loads(serde.dumps(value));

const MESSAGES: BaseMessage[] = [
  new HumanMessage({ content: "hi", id: "1", additional_kwargs: { lily: { notice: true } } }),
  new HumanMessage({ content: [{ type: "text", text: "hi" }], name: "Ann" }),
  new SystemMessage("be kind"),
  new AIMessage({
    content: "",
    id: "2",
    tool_calls: [{ id: "c1", name: "look", args: { deep: { at: [1, null] } }, type: "tool_call" }],
    invalid_tool_calls: [{ id: "c2", name: "look", args: "{", error: "no JSON", type: "invalid_tool_call" }],
    response_metadata: { finish_reason: "tool_calls" },
  }),
  new ToolMessage({
    content: "found",
    tool_call_id: "c1",
    name: "look",
    status: "error",
    artifact: { n: 1 },
  }),
  new RemoveMessage({ id: "1" }),
];

describe("state as text", () => {
  it.each(MESSAGES.map((message) => [message.type, message] as const))(
    "brings a %s message back",
    (_type, message) => {
      const back = throughText({ messages: [message] }) as { messages: BaseMessage[] };
      expect(back.messages[0]).toBeInstanceOf(message.constructor);
      expect(back.messages[0]?.toDict()).toEqual(message.toDict());
    },
  );

  it("brings back the same a second time, when messages are remembered", () => {
    const once = throughText(MESSAGES) as BaseMessage[];
    expect(serde.dumps(throughText(once))).toBe(serde.dumps(MESSAGES));
  });

  it("leaves out what a message begins with, and nothing else that is empty", () => {
    const messages = [
      new AIMessage({ content: [], id: "1" }),
      new ToolMessage({ content: "", tool_call_id: "c", artifact: {} }),
    ];
    const fields = (JSON.parse(serde.dumps(messages)) as { kwargs: object }[]).map(({ kwargs }) => kwargs);
    expect(fields).toEqual([
      { content: [], id: "1" },
      { content: "", tool_call_id: "c", artifact: {} },
    ]);
    const back = throughText(messages) as BaseMessage[];
    expect(back.map((message) => message.toDict())).toEqual(messages.map((message) => message.toDict()));
  });

  it("brings no call back that was put aside", () => {
    const raw = { id: "c", type: "function", function: { name: "t", arguments: "{}" } } as const;
    const message = new AIMessage({ content: "", tool_calls: [], additional_kwargs: { tool_calls: [raw] } });
    const [back] = throughText([message]) as AIMessage[];
    expect([message.tool_calls, back?.tool_calls]).toEqual([[], []]);
  });

  it("stores a message anew that somebody has changed", () => {
    const [message] = throughText([new HumanMessage({ content: "before", id: "1" })]) as HumanMessage[];
    if (message === undefined) throw new Error("no message");
    message.content = "after";
    expect(throughText([message])).toMatchObject([{ content: "after" }]);
  });

  it("is read by LangGraph's serializer, and reads what that has written", async () => {
    const value = {
      messages: MESSAGES,
      turn: null,
      gone: undefined,
      bytes: Uint8Array.of(0, 255),
      tags: new Set(["a"]),
    };
    const upstream = new JsonPlusSerializer();
    const [type, data] = await serde.dumpsTyped(value);
    expect(serde.dumps(await upstream.loadsTyped(type, data))).toBe(serde.dumps(value));
    const [theirs, written] = await upstream.dumpsTyped(value);
    expect(serde.dumps(await serde.loadsTyped(theirs, written))).toBe(serde.dumps(value));
  });

  it.each([
    ["undefined", { a: undefined, list: [undefined, 1] }],
    ["a map", new Map([["k", { n: 1 }]])],
    ["a set", new Set([1, "2"])],
    ["bytes", { data: Uint8Array.of(0, 128, 255) }],
    ["an expression", /a+/gu],
    ["half a pair and NUL", "caf\ud83d \u0000 \udc00"],
    ["minus zero as zero", [0]],
  ])("brings back %s", (_what, value) => {
    expect(throughText(value)).toEqual(value);
  });

  const lookalikes = [
    {
      lc: 1,
      type: "constructor",
      id: ["langchain_core", "messages", "HumanMessage"],
      kwargs: { content: "hi" },
    },
    { lc: 2, type: "constructor", id: ["Set"], args: [[1]], kwargs: {}, method: null },
    { lc: 2, type: "constructor", id: ["RegExp"], args: ["(", ""], kwargs: {}, method: null },
    { lc: 2, type: "undefined" },
    { lc: 2, type: "plain", value: { lc: 1, type: "secret", id: ["OPENAI_API_KEY"] } },
    { lc: 1, type: "constructor", id: ["langchain", "llms", "OpenAI"], kwargs: {} },
  ];
  it.each(lookalikes.map((value) => [JSON.stringify(value), value] as const))(
    "leaves a plain object plain: %s",
    (_text, value) => {
      const message = new AIMessage({ content: "", tool_calls: [{ id: "c", name: "t", args: { value } }] });
      const back = throughText({ value, nested: [{ value }], message }) as {
        value: unknown;
        nested: unknown[];
        message: AIMessage;
      };
      expect(back.value).toEqual(value);
      expect(back.nested).toEqual([{ value }]);
      expect(back.message.tool_calls?.[0]?.args).toEqual({ value });
      const marked = new HumanMessage({
        content: "hi",
        id: "1",
        additional_kwargs: { mark: value, set: new Set([1]) },
      });
      const again = throughText(throughText(throughText([marked]))) as HumanMessage[];
      expect(again[0]?.additional_kwargs).toEqual({ mark: value, set: new Set([1]) });
    },
  );

  it("brings back what JSON can hold, with what it cannot hold among it", () => {
    const rare = fc.constantFrom<unknown>(
      undefined,
      new Map([["k", 1]]),
      /a/u,
      { lc: 2, type: "undefined" },
      Object.assign([], { length: 1 }),
    );
    const any = fc.letrec<{ tree: unknown }>((tie) => ({
      tree: fc.oneof(
        { maxDepth: 5 },
        // Without minus zero, which JSON does not have.
        fc.jsonValue().map((value): unknown => JSON.parse(JSON.stringify(value))),
        rare,
        fc.array(tie("tree")),
        fc.dictionary(fc.string(), tie("tree"), { noNullPrototype: true }),
      ),
    })).tree;
    fc.assert(
      fc.property(any, (value) => {
        expect(throughText(value)).toEqual(value);
      }),
    );
  });

  const cycle: Record<string, unknown> = { a: 1 };
  cycle["me"] = cycle;
  const knot: unknown[] = [];
  for (let n = 0; n < 50; n += 1) knot.push(knot);
  it.each([
    ["a number that is none", { turn: { cost: Number.NaN } }, "the state at turn.cost is the number NaN"],
    ["an endless number", [1, Infinity], "the state at 1 is the number Infinity"],
    ["a function", { f: () => 1 }, "the state at f is a function"],
    ["a big integer", { n: 10n }, "the state at n is a bigint"],
    ["a symbol", Symbol("s"), "the state is a symbol"],
    ["a circle", { cycle }, "the state at cycle.me is a part of what holds it"],
    ["a knot of circles", { knot }, "the state at knot.0 is a part of what holds it"],
  ])("refuses %s and names its path", (_what, value, message) => {
    expect(() => serde.dumps(value)).toThrow(expect.objectContaining({ code: "value_not_json" }));
    expect(() => serde.dumps(value)).toThrow(message);
  });

  it("EN-07 brings back half a surrogate pair beside bytes by the one way that there is", async () => {
    const state = { messages: [new HumanMessage("caf\ud83d")], bytes: Uint8Array.of(1, 2, 255) };
    const [type, data] = await serde.dumpsTyped(state);
    expect(type).toBe("json");
    const read = (await serde.loadsTyped(type, data)) as typeof state;
    expect([read.messages[0]?.content, read.bytes]).toEqual(["caf\ud83d", state.bytes]);
  });

  it("stores what is there twice without going in a circle", () => {
    const shared = { n: 1 };
    expect(throughText([shared, shared])).toEqual([shared, shared]);
  });

  it("refuses a form that it does not know", async () => {
    await expect(serde.loadsTyped("pickle", "")).rejects.toMatchObject({ code: "record_invalid" });
  });
});
