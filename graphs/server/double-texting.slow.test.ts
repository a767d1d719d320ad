/** A second message while the first one is being answered, by each strategy that a LangGraph server offers. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startModelledServer, type ModelledServer } from "./testing/modelled-server.ts";
import {
  GRAPH,
  connect,
  linesOf,
  parseOutput,
  payloadOf,
  type SessionClient,
} from "./testing/session-client.ts";

// The server shares the machine with every other test file.
vi.setConfig({ testTimeout: 60_000 });

let started: ModelledServer;
let models: ModelledServer["models"];
let server: ModelledServer["server"];
let lily: SessionClient;

beforeAll(async () => {
  started = await startModelledServer();
  ({ models, server } = started);
  lily = connect(server.url);
}, 70_000);

afterAll(() => started?.stop());

/** A run whose model has begun to answer and goes on for ever, and how to wait for it. */
async function startHanging(threadId: string, content: string, sessionKey: string) {
  const before = models.requests.length;
  models.enqueue({ kind: "hang", chunks: ["Once upon"] });
  const run = await lily.client.runs.create(threadId, GRAPH, payloadOf(content, { id: "A", sessionKey }));
  await vi.waitFor(() => expect(models.requests.length).toBe(before + 1), { timeout: 20_000 });
  return run;
}

describe("a message that comes while another one is answered", () => {
  it("is refused with 422 when the client says nothing, and stores nothing", async () => {
    const thread = await lily.newThread();
    const run = await startHanging(thread, "first", "double:reject");
    await expect(lily.send(thread, "second", { sessionKey: "double:reject" })).rejects.toMatchObject({
      status: 422,
    });
    await lily.client.runs.cancel(thread, run.run_id, true);
    expect(await lily.client.runs.list(thread)).toMatchObject([{ status: "interrupted" }]);
    expect(await lily.transcript("double:reject", thread)).toEqual([]);
  });

  it("is answered after it with `enqueue`, each one once and in order", async () => {
    const thread = await lily.newThread();
    models.enqueue({ kind: "text", chunks: ["to A"] }, { kind: "text", chunks: ["to B"] });
    const sessionKey = "double:enqueue";
    const [first, second] = await Promise.all([
      lily.send(thread, "A?", { sessionKey, multitaskStrategy: "enqueue" }),
      lily.send(thread, "B?", { sessionKey, multitaskStrategy: "enqueue" }),
    ]);
    expect([first.reply?.turn, second.reply?.turn].toSorted()).toEqual([1, 2]);
    const [one, two] = first.reply?.turn === 1 ? ["A", "B"] : ["B", "A"];
    expect(linesOf(await lily.transcript(sessionKey, thread))).toEqual([
      `user: ${one}?`,
      "assistant: to A",
      `user: ${two}?`,
      "assistant: to B",
    ]);
  });

  it("cuts the other one off with `interrupt`; what it had said is kept, and nothing is there twice", async () => {
    const thread = await lily.newThread();
    const sessionKey = "double:interrupt";
    await lily.send(thread, "hello", { sessionKey });
    const run = await startHanging(thread, "first", sessionKey);
    models.enqueue({ kind: "text", chunks: ["to B"] });
    const { reply, messages } = await lily.send(thread, "second", {
      id: "B",
      sessionKey,
      multitaskStrategy: "interrupt",
    });
    expect(reply).toMatchObject({ outcome: "answered", turn: 3, deliveryId: "B" });
    expect((await lily.client.runs.get(thread, run.run_id)).status).toBe("interrupted");
    expect(linesOf(await lily.transcript(sessionKey, thread))).toEqual([
      "user: hello",
      "assistant: ok",
      "user: first",
      "assistant: Once upon",
      "user: second",
      "assistant: to B",
    ]);
    const said = messages.map(({ content }) => content);
    expect(said).toEqual(["hello", "ok", "first", "Once upon", "second", "to B"]);
  });

  it("cuts the other one off with `rollback` too: what was said and begun to be answered is no client's to undo", async () => {
    const thread = await lily.newThread();
    const sessionKey = "double:rollback";
    await startHanging(thread, "first", sessionKey);
    models.enqueue({ kind: "text", chunks: ["to B"] });
    const { reply, messages } = await lily.send(thread, "second", {
      id: "B",
      sessionKey,
      multitaskStrategy: "rollback",
    });
    expect(reply).toMatchObject({ outcome: "answered", turn: 2, deliveryId: "B" });
    const said = ["first", "Once upon", "second", "to B"];
    expect(messages.map(({ content }) => content)).toEqual(said);
    expect(linesOf(await lily.transcript(sessionKey, thread))).toEqual(
      said.map((text, index) => `${index % 2 === 0 ? "user" : "assistant"}: ${text}`),
    );
  });

  it("that was cut off and is sent again under its id gets what had come of its answer", async () => {
    const thread = await lily.newThread();
    const sessionKey = "double:again";
    const run = await startHanging(thread, "first", sessionKey);
    await lily.client.runs.cancel(thread, run.run_id, true);
    const { reply } = await lily.send(thread, "first", { id: "A", sessionKey });
    expect(reply).toMatchObject({ outcome: "answered", turn: 1, status: "stopped", deliveryId: "A" });
    expect(linesOf(await lily.transcript(sessionKey, thread))).toEqual([
      "user: first",
      "assistant: Once upon",
    ]);
  });
});

describe("a run that is begun and joined later", () => {
  it("is told from its first event on when its stream is resumable", async () => {
    const thread = await lily.newThread();
    models.enqueue({ kind: "text", chunks: ["Hel", "lo."] });
    const run = await lily.client.runs.create(thread, GRAPH, {
      ...payloadOf("hi", { sessionKey: "double:join" }),
      streamMode: ["values", "messages-tuple"],
      streamResumable: true,
    });
    await vi.waitFor(
      async () => expect((await lily.client.runs.get(thread, run.run_id)).status).toBe("success"),
      { timeout: 20_000 },
    );
    const texts: string[] = [];
    let last: unknown;
    for await (const { event, data } of lily.client.runs.joinStream(thread, run.run_id, {
      lastEventId: "-1",
    })) {
      if (event === "messages") texts.push(String(data[0].content));
      if (event === "values") last = data;
    }
    expect(texts).toEqual(expect.arrayContaining(["Hel", "lo."]));
    expect(parseOutput(last).reply?.envelope.message).toBe("Hello.");
  });
});
