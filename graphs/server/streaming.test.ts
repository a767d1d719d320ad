/** What an SDK client sees of a turn: its stream in every mode, the state of its thread, and how that state came about. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { startModelledServer, type ModelledServer } from "./testing/modelled-server.ts";
import { GRAPH, connect, parseOutput, payloadOf, type SessionClient } from "./testing/session-client.ts";

// The server shares the machine with every other test file.
vi.setConfig({ testTimeout: 60_000 });

const messageSchema = z.object({
  type: z.string(),
  content: z.string(),
  tool_call_chunks: z.array(z.unknown()).optional(),
});

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

type Mode = "values" | "updates" | "messages-tuple" | "custom";

/** The data of a run's events, by event. */
async function stream(threadId: string, content: string, sessionKey: string, modes: Mode[]) {
  const events = new Map<string, unknown[]>();
  const run = { ...payloadOf(content, { sessionKey }), streamMode: modes };
  for await (const { event, data } of lily.client.runs.stream(threadId, GRAPH, run))
    events.set(event, [...(events.get(event) ?? []), data]);
  return events;
}

/** Pieces of the answer, as against whole messages that steps add. */
function pieces(events: ReadonlyMap<string, readonly unknown[]>): string[] {
  return (events.get("messages") ?? [])
    .map((data) => messageSchema.parse(z.array(z.unknown()).parse(data)[0]))
    .filter(({ tool_call_chunks: chunks }) => chunks !== undefined)
    .map(({ content }) => content)
    .filter((text) => text !== "");
}

describe("a turn in one mode alone", () => {
  it("tells the pieces of the answer with `messages-tuple`", async () => {
    models.enqueue({ kind: "text", chunks: ["Hel", "lo."] });
    const events = await stream(await lily.newThread(), "hi", "stream:messages", ["messages-tuple"]);
    expect([...events.keys()].toSorted()).toEqual(["messages", "metadata"]);
    expect(pieces(events)).toEqual(["Hel", "lo."]);
  });

  it("tells each step with `updates`", async () => {
    const events = await stream(await lily.newThread(), "hi", "stream:updates", ["updates"]);
    expect(
      events.get("updates")?.flatMap((update) => Object.keys(z.object({}).loose().parse(update))),
    ).toEqual(["admit", "decideRollover", "assembleContext", "callModel", "commit"]);
  });

  it("tells the state after each step with `values`, the last one with the reply", async () => {
    const events = await stream(await lily.newThread(), "hi", "stream:values", ["values"]);
    const { reply, messages } = parseOutput(events.get("values")?.at(-1));
    expect(reply).toMatchObject({ outcome: "answered", turn: 1, envelope: { message: "ok" } });
    expect(messages.map(({ type, content }) => [type, content])).toEqual([
      ["human", "hi"],
      ["ai", "ok"],
    ]);
  });

  it("tells which tool is used with `custom`", async () => {
    const thread = await lily.newThread();
    const query = JSON.stringify({ query: "boat", rationale: "the user asks" });
    models.enqueue({
      kind: "toolCalls",
      calls: [{ id: "call-1", name: "session_recall", arguments: query }],
    });
    const events = await stream(thread, "Which boat?", "stream:custom", ["custom"]);
    expect(events.get("custom")).toEqual([{ type: "tool", name: "session_recall" }]);
  });
});

describe("a turn in all modes at once", () => {
  it("ends with one answer in each", async () => {
    models.enqueue({ kind: "text", chunks: ["one ", "answer"] });
    const modes: Mode[] = ["messages-tuple", "updates", "custom", "values"];
    const events = await stream(await lily.newThread(), "hi", "stream:all", modes);
    expect(events.has("error")).toBe(false);
    expect(pieces(events).join("")).toBe("one answer");
    const { messages } = parseOutput(events.get("values")?.at(-1));
    expect(messages.filter(({ content }) => content === "one answer")).toHaveLength(1);
  });

  it("that fails tells so in the reply, leaves no assistant text, and the message to be seen (S-4)", async () => {
    models.enqueue({ kind: "status", status: 401, error: { message: "no such key" } });
    const thread = await lily.newThread();
    const events = await stream(thread, "hi", "stream:fails", ["messages-tuple", "updates", "values"]);
    const { reply, messages } = parseOutput(events.get("values")?.at(-1));
    expect(reply).toMatchObject({ outcome: "failed", turn: null, envelope: { ok: false } });
    expect(pieces(events)).toEqual([]);
    expect(messages.map(({ type, content }) => [type, content])).toEqual([
      ["human", "hi"],
      ["ai", expect.stringContaining("no such key")],
    ]);
    expect(await lily.transcript("stream:fails", thread)).toEqual([]);
  });
});

describe("the state of a thread", () => {
  it("has the conversation and the reply of the latest run, and nothing is left to do", async () => {
    const thread = await lily.newThread();
    await lily.send(thread, "one", { sessionKey: "state:now" });
    await lily.send(thread, "two", { sessionKey: "state:now" });
    const state = await lily.client.threads.getState(thread);
    expect(state.next).toEqual([]);
    const { messages, reply } = parseOutput(state.values);
    expect(messages.map(({ content }) => content)).toEqual(["one", "ok", "two", "ok"]);
    expect(reply?.turn).toBe(2);
  });

  it("has a history whose newest checkpoint of each run is the committed turn", async () => {
    const thread = await lily.newThread();
    await lily.send(thread, "one", { sessionKey: "state:history" });
    await lily.send(thread, "two", { sessionKey: "state:history" });
    const history = await lily.client.threads.getHistory(thread, { limit: 100 });
    const ended = history.filter(({ next }) => next.length === 0);
    expect(ended.map(({ values }) => parseOutput(values).reply?.turn)).toEqual([2, 1]);
    const times = history.map(({ created_at: at }) => Date.parse(at ?? ""));
    expect(times).toEqual(times.toSorted((one, other) => other - one));
  });

  it("is told of a run in the list of its thread's runs", async () => {
    const thread = await lily.newThread();
    await lily.send(thread, "one", { sessionKey: "state:runs" });
    expect(await lily.client.runs.list(thread)).toMatchObject([{ status: "success", thread_id: thread }]);
    expect((await lily.client.threads.get(thread)).status).toBe("idle");
  });
});

describe("the drawing of the graph", () => {
  it("has every step and the ways between them, also with `xray`", async () => {
    const { nodes, edges } = await lily.client.assistants.getGraph(GRAPH, { xray: true });
    const names = nodes.map(({ id }) => id);
    for (const name of [
      "admit",
      "runCommand",
      "rotate",
      "assembleContext",
      "callModel",
      "runTools",
      "commit",
    ])
      expect(names).toContain(name);
    const ways = edges.map(({ source, target }) => `${source} → ${target}`);
    expect(ways).toEqual(expect.arrayContaining(["callModel → runTools", "runTools → callModel"]));
  });
});
