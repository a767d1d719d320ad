/** Conversations of a real LangGraph server: over its loopback, as its own routes hold them, and by its URL. */
import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { startModelledServer, type ModelledServer } from "#graphs/server/testing/modelled-server.ts";
import { systemIds } from "#src/app/system.ts";
import { createMemoryKeyLock } from "#src/storage/memory/memory-key-lock.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import { createStopRegistry } from "#src/turns/stop-registry.ts";
import { turnReplySchema } from "#src/turns/turn-reply.ts";
import { createClientStore } from "./client-store.ts";
import { createServerConversations } from "./server-conversations.ts";

// The server shares the machine with every other test file.
vi.setConfig({ testTimeout: 60_000 });

const eventSchema = z.looseObject({ type: z.string(), text: z.string().optional() });
const errorSchema = z.object({ reply: turnReplySchema });

let started: ModelledServer;
let models: ModelledServer["models"];
let server: ModelledServer["server"];
let client: Client;

beforeAll(async () => {
  started = await startModelledServer();
  ({ models, server } = started);
  client = new Client({ apiUrl: server.url, apiKey: null });
}, 70_000);

afterAll(() => started?.stop());

async function post(path: string, body: object, accept = "application/json"): Promise<Response> {
  return fetch(`${server.url}/lily/v1/keys/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", accept },
    body: JSON.stringify(body),
  });
}

/** Sends a message through the routes, to its reply and what was told before it. */
async function send(sessionKey: string, content: unknown, deliveryId?: string) {
  const response = await post(`${sessionKey}/messages`, { content, deliveryId }, "text/event-stream");
  const told = [...(await response.text()).matchAll(/^event: (\w+)\ndata: (.*)$/gmu)].map(
    ([, type = "", data = ""]): [string, unknown] => [type, JSON.parse(data)],
  );
  const [how, last] = told.pop() ?? [];
  const reply = how === "error" ? errorSchema.parse(last).reply : turnReplySchema.parse(last);
  const events = told.map(([type, data]) => eventSchema.parse(Object.assign({ type }, data)));
  return { reply, events };
}

async function stop(sessionKey: string): Promise<unknown> {
  return (await post(`${sessionKey}/stop`, {})).json();
}

const repository = () => createStoreSessionRepository(createClientStore(client.store));

async function chainOf(sessionKey: string) {
  const chain = await repository().readChain({ owner: "local", sessionKey });
  if (chain === undefined) throw new Error(`no chain for ${sessionKey}`);
  return chain;
}

describe("a message on a key", () => {
  it("is answered piece by piece, with its session first", async () => {
    models.enqueue({ kind: "text", chunks: ["Hel", "lo."] });
    const { reply, events } = await send("in:stream", "hi");
    expect(reply).toMatchObject({ outcome: "answered", turn: 1, envelope: { message: "Hello." } });
    expect(events[0]?.type).toBe("session");
    expect(events.filter(({ type }) => type === "token").map(({ text }) => text)).toEqual(["Hel", "lo."]);
  });

  it("that ends the session is answered on the next one in the same call", async () => {
    await send("in:new", "My cat is named Whiskers.");
    models.enqueue({ kind: "text", chunks: ["Soup."] });
    const { reply, events } = await send("in:new", "/new plan dinner");
    const { sessions, latest } = await chainOf("in:new");
    expect(reply).toMatchObject({ outcome: "answered", turn: 1, sessionId: latest });
    expect(sessions).toHaveLength(2);
    expect(events.filter(({ type }) => type === "session")).toHaveLength(2);
    expect(events.filter(({ type }) => type === "token").map(({ text }) => text)).toEqual(["Soup."]);
  });

  it("that is sent again is answered from what is stored", async () => {
    const first = await send("in:again", "Remember the milk.", "delivery-1");
    const again = await send("in:again", "Remember the milk.", "delivery-1");
    expect(again.reply).toEqual({ ...first.reply, repeated: true });
  });

  it("waits for the turn before it, and both are answered in order", async () => {
    models.enqueue({ kind: "text", chunks: ["first"] }, { kind: "text", chunks: ["second"] });
    const both = await Promise.all([send("in:two", "one"), send("in:two", "two")]);
    expect(both.map(({ reply }) => [reply.turn, reply.envelope.message])).toEqual([
      [1, "first"],
      [2, "second"],
    ]);
    expect(both[1]?.events[0]).toEqual({ type: "waiting" });
  });

  it("is refused with its code when it is blank, and no thread begins", async () => {
    const before = (await client.threads.search({ limit: 1000 })).length;
    const { reply } = await send("in:blank", "  ");
    expect(reply).toMatchObject({ outcome: "refused", envelope: { code: "message_blank" } });
    expect(await client.threads.search({ limit: 1000 })).toHaveLength(before);
  });

  it("says which tool is used", async () => {
    await send("in:tool", "The boat is called Albatross.");
    const query = JSON.stringify({ query: "boat", rationale: "the user asks for its name" });
    models.enqueue(
      { kind: "toolCalls", calls: [{ id: "call-1", name: "recall_history", arguments: query }] },
      { kind: "text", chunks: ["Albatross."] },
    );
    const { events } = await send("in:tool", "/new What did I call the boat?");
    expect(events.find(({ type }) => type === "tool")).toEqual({ type: "tool", name: "recall_history" });
  });
});

describe("a command that only reads", () => {
  it("is answered without a run and without a thread", async () => {
    const before = (await client.threads.search({ limit: 1000 })).length;
    const { reply } = await send("in:reads", "/status");
    expect(reply).toMatchObject({ outcome: "command", envelope: { ok: true } });
    expect(await client.threads.search({ limit: 1000 })).toHaveLength(before);
    expect(await repository().readChain({ owner: "local", sessionKey: "in:reads" })).toBeUndefined();
  });
});

describe("a stop", () => {
  it("keeps what there is of the answer", async () => {
    models.enqueue({ kind: "hang", chunks: ["Once upon"] });
    const before = models.requests.length;
    const running = send("in:stop", "Tell me a story.");
    await vi.waitFor(() => expect(models.requests.length).toBe(before + 1), { timeout: 10_000 });
    await vi.waitFor(async () => expect(await stop("in:stop")).toEqual({ stopped: true }), {
      timeout: 10_000,
    });
    const { reply } = await running;
    expect(reply).toMatchObject({ outcome: "answered", status: "stopped", turn: 1 });
    expect(await stop("in:stop")).toEqual({ stopped: false });
  });
});

describe("readiness", () => {
  it("is told by a read of the store", async () => {
    expect((await fetch(`${server.url}/lily/v1/ready`)).status).toBe(200);
  });
});

describe("from another process, by URL", () => {
  const open = createServerConversations({
    ids: systemIds,
    locks: createMemoryKeyLock(),
    stops: createStopRegistry(),
    graphSeesStops: false,
    messageCharacters: 32_000,
    botNames: [],
    lockWaitMs: 60_000,
  });
  const remote = () => open(client, "local");
  const request = (sessionKey: string, content: string) => ({ owner: "local", sessionKey, content });

  it("a message is answered, and one that ends the session is followed", async () => {
    await remote().send(request("url:new", "hello"));
    const reply = await remote().send(request("url:new", "/new plan dinner"));
    const { sessions, latest } = await chainOf("url:new");
    expect(reply).toMatchObject({ outcome: "answered", turn: 1, sessionId: latest });
    expect(sessions).toHaveLength(2);
  });

  it("a command that only reads is a run of the graph, and opens no conversation", async () => {
    expect(await remote().send(request("url:reads", "/status"))).toMatchObject({
      outcome: "command",
      envelope: { ok: true, code: "status" },
    });
    expect(await remote().repository.readChain(request("url:reads", ""))).toBeUndefined();
    await remote().send(request("url:reads", "hello"));
    const { latest } = await chainOf("url:reads");
    expect(await remote().send(request("url:reads", "/status"))).toMatchObject({ sessionId: latest });
  });

  it("a stop cancels the run; its message was not stored and may come again", async () => {
    models.enqueue({ kind: "hang", chunks: ["Once upon"] });
    const before = models.requests.length;
    const conversations = remote();
    const running = conversations.send({ ...request("url:stop", "A story."), deliveryId: "d-1" });
    await vi.waitFor(() => expect(models.requests.length).toBe(before + 1), { timeout: 20_000 });
    expect(await conversations.stop(request("url:stop", ""))).toBe(true);
    expect(await running).toMatchObject({ outcome: "failed", envelope: { code: "turn_stopped" } });
    expect(await conversations.stop(request("url:stop", ""))).toBe(false);
    const again = await conversations.send({ ...request("url:stop", "A story."), deliveryId: "d-1" });
    expect(again).toMatchObject({ outcome: "answered", turn: 1, repeated: false });
  });

  it("a turn that someone else cuts off is told as such", async () => {
    models.enqueue({ kind: "hang", chunks: ["Once upon"] });
    const before = models.requests.length;
    const running = remote().send(request("url:cut", "A story."));
    await vi.waitFor(() => expect(models.requests.length).toBe(before + 1), { timeout: 20_000 });
    const { latest } = await chainOf("url:cut");
    const [run] = await client.runs.list(latest, { status: "running" });
    await client.runs.cancel(latest, run?.run_id ?? "");
    expect(await running).toMatchObject({ outcome: "failed", envelope: { code: "turn_conflict" } });
  });
});
