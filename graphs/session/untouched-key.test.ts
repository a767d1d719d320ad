/** What opens a key, and what does not (S-9, S-14); runs that may take too few steps (S-12). */
import { GraphRecursionError } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { echoModel, inputOf, OWNER } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();

describe("a key in which nothing was ever said", () => {
  it.each(["/title", "/model", "/resume 3", "/rejoin", "/forget nothing of this", "/nonsense"])(
    "S-9 is not opened by %s, which is refused",
    async (text) => {
      const lily = await start({ model: echoModel() });
      const reply = await lily.send(text);
      expect([reply.sessionId, reply.turn]).toEqual(["", null]);
      expect(await lily.sessions.repository.listChains(OWNER)).toEqual([]);
      expect(await lily.send("hello")).toMatchObject({ outcome: "answered", turn: 1 });
      expect((await lily.chain()).sessions).toHaveLength(1);
    },
  );

  it("S-9 is opened by a command that changes something", async () => {
    const lily = await start({ model: echoModel() });
    const { sessionId, turn } = await lily.send("/title Plans");
    expect([(await lily.chain()).latest, turn]).toEqual([sessionId, 1]);
    expect(await lily.send("hello")).toMatchObject({ sessionId, turn: 2 });
  });

  it("S-9 has no session id in its status", async () => {
    const lily = await start({ model: echoModel() });
    const { sessionId, envelope } = await lily.send("/status");
    expect([sessionId, envelope.data?.["sessionId"]]).toEqual(["", null]);
    expect(envelope.text).not.toContain("session id");
  });

  it("S-14 has nothing that /new could end: nothing is sealed, and no /rejoin is offered", async () => {
    const model = echoModel();
    const lily = await start({ model });
    const reply = await lily.send("/new");
    expect(reply).toMatchObject({ outcome: "command", envelope: { ok: true, code: "session_new" } });
    expect(JSON.stringify(reply)).not.toContain("rejoin");
    expect(await lily.sessions.repository.listChains(OWNER)).toEqual([]);
    expect(model.calls).toHaveLength(0);
  });

  it("S-14 answers the text behind /new in its first session, once", async () => {
    const model = echoModel();
    const lily = await start({ model });
    const reply = await lily.send("/new hello", { deliveryId: "d" });
    expect(reply).toMatchObject({ outcome: "answered", turn: 1, envelope: { message: "hello" } });
    expect(reply.announcement).toBeUndefined();
    expect(inputOf(model)).toEqual(["human: hello"]);
    expect(await lily.send("/new hello", { deliveryId: "d" })).toMatchObject({ turn: 1, repeated: true });
    expect((await lily.chain()).sessions).toHaveLength(1);
  });
});

describe("a run that may take too few steps", () => {
  async function limited(limit: number) {
    const model = echoModel();
    const lily = await start({ model });
    const { sessionId } = await lily.send("hello");
    const on = (recursionLimit: number) => ({ configurable: { thread_id: sessionId }, recursionLimit });
    const input = { messages: [{ role: "user" as const, content: "how are you", id: "d2" }] };
    const run = lily.sessions.graph.invoke(input, on(limit));
    const result = await run.catch((error: unknown) => {
      if (error instanceof GraphRecursionError) return undefined;
      throw error;
    });
    return { lily, model, sessionId, on, reply: result?.reply };
  }

  it.each([2, 3, 5])(
    "S-12 of %i steps is told in an envelope, and its message answered with the next",
    async (limit) => {
      const { lily, model, reply } = await limited(limit);
      expect(reply).toMatchObject({ outcome: "refused", envelope: { ok: false, code: "request_invalid" } });
      expect(await lily.send("and you", { deliveryId: "d3" })).toMatchObject({ turn: 2, deliveryId: "d3" });
      expect(inputOf(model)).toEqual(["human: hello", "ai: hello", "human: how are you\n\nand you"]);
      expect(await lily.send("how are you", { deliveryId: "d2" })).toMatchObject({ turn: 2, repeated: true });
    },
  );

  it("S-14 begins without the reply of the run before, also in its first values", async () => {
    const lily = await start({ model: echoModel() });
    const { sessionId } = await lily.send("hello");
    const input = { messages: [{ role: "user" as const, content: "how are you", id: "d2" }] };
    const on = { configurable: { thread_id: sessionId }, streamMode: "values" as const };
    const replies: unknown[] = [];
    for await (const { reply } of await lily.sessions.graph.stream(input, on)) replies.push(reply);
    expect(replies.at(-1)).toMatchObject({ outcome: "answered", deliveryId: "d2" });
    expect(replies.slice(0, -1).filter((reply) => reply !== null)).toEqual([]);
  });

  it("S-12 of one step, which is LangGraph's own error, leaves its message to the next run too", async () => {
    const { lily, model, reply } = await limited(1);
    expect(reply).toBeUndefined();
    expect(await lily.send("and you", { deliveryId: "d3" })).toMatchObject({ turn: 2 });
    expect(inputOf(model).at(-1)).toContain("how are you");
    expect(await lily.send("how are you", { deliveryId: "d2" })).toMatchObject({ turn: 2, repeated: true });
  });

  it("S-12 leaves its message to the next run, also where that brings none, or the same again", async () => {
    const { lily, on } = await limited(3);
    const { reply } = await lily.sessions.graph.invoke({ messages: [] }, on(50));
    expect(reply).toMatchObject({ outcome: "answered", turn: 2, deliveryId: "d2" });
    expect(await lily.send("how are you", { deliveryId: "d2" })).toMatchObject({ turn: 2, repeated: true });
  });

  it("S-12 needs no more than the least number of steps for a turn without tools", async () => {
    const { reply } = await limited(6);
    expect(reply).toMatchObject({ outcome: "answered", turn: 2 });
  });
});
