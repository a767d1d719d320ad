/** The routes in the process of a LangGraph server with its login: two owners, each with conversations of their own. */
import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { startModelledServer, type ModelledServer } from "#graphs/server/testing/modelled-server.ts";
import { turnReplySchema } from "#src/turns/turn-reply.ts";
import { hashApiKey, newApiKey } from "../auth/api-key.ts";

// The server shares the machine with every other test file.
vi.setConfig({ testTimeout: 60_000 });

const ann = newApiKey();
const bob = newApiKey();

let started: ModelledServer;
let models: ModelledServer["models"];
let server: ModelledServer["server"];

beforeAll(async () => {
  started = await startModelledServer({
    LILY_API_KEYS: `ann=${hashApiKey(ann)},bob=${hashApiKey(bob)}`,
  });
  ({ models, server } = started);
}, 70_000);

afterAll(() => started?.stop());

interface Asked {
  readonly key?: string;
  readonly accept?: string;
}

async function post(path: string, body: object, { key, accept }: Asked = {}): Promise<Response> {
  return fetch(`${server.url}/lily/v1${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(accept === undefined ? {} : { accept }),
    },
    body: JSON.stringify(body),
  });
}

async function send(sessionKey: string, content: string, key = ann) {
  const response = await post(`/keys/${encodeURIComponent(sessionKey)}/messages`, { content }, { key });
  expect(response.status).toBe(200);
  return turnReplySchema.parse(await response.json());
}

describe("a message to the routes", () => {
  it("is answered, and one that ends the session is answered on the next one", async () => {
    const first = await send("app:new", "hello");
    const second = await send("app:new", "/new plan dinner");
    expect(first).toMatchObject({ outcome: "answered", turn: 1 });
    expect(second).toMatchObject({ outcome: "answered", turn: 1 });
    expect(second.sessionId).not.toBe(first.sessionId);
  });

  it("is answered piece by piece as events", async () => {
    models.enqueue({ kind: "text", chunks: ["Hel", "lo."] });
    const asked = { key: ann, accept: "text/event-stream" };
    const response = await post("/keys/app:stream/messages", { content: "hi" }, asked);
    const events = [...(await response.text()).matchAll(/^event: (\w+)$/gmu)].map(([, name]) => name);
    expect(events).toEqual(["session", "token", "token", "reply"]);
  });

  it("can be stopped by its key, and what there is of the answer is kept", async () => {
    models.enqueue({ kind: "hang", chunks: ["Once upon"] });
    const before = models.requests.length;
    const running = send("app:stop", "Tell me a story.");
    await vi.waitFor(() => expect(models.requests.length).toBe(before + 1), { timeout: 20_000 });
    const stopped = await post("/keys/app:stop/stop", {}, { key: ann });
    expect(await stopped.json()).toEqual({ stopped: true });
    expect(await running).toMatchObject({ outcome: "answered", status: "stopped", turn: 1 });
  });

  it("is refused without a key", async () => {
    expect((await post("/keys/app:none/messages", { content: "hi" })).status).toBe(401);
  });
});

describe("two owners of one key name", () => {
  it("have conversations apart, in the routes and on the server's own threads", async () => {
    const ours = await send("app:shared", "The code is 4711.", ann);
    const theirs = await send("app:shared", "hello", bob);
    expect(theirs).toMatchObject({ turn: 1 });
    expect(theirs.sessionId).not.toBe(ours.sessionId);
    const client = new Client({ apiUrl: server.url, apiKey: bob, callerOptions: { maxRetries: 0 } });
    expect((await client.threads.search({ limit: 100 })).map((thread) => thread.thread_id)).toEqual([
      theirs.sessionId,
    ]);
    await expect(client.threads.getState(ours.sessionId)).rejects.toMatchObject({ status: 404 });
  });

  it("may go on with their own thread by the SDK, and the routes see it", async () => {
    const { sessionId } = await send("app:sdk", "hello", ann);
    const client = new Client({ apiUrl: server.url, apiKey: ann, callerOptions: { maxRetries: 0 } });
    const values = await client.runs.wait(sessionId, "session", {
      input: { messages: [{ type: "human", content: "by the SDK" }] },
    });
    expect(z.object({ reply: turnReplySchema }).parse(values).reply).toMatchObject({ turn: 2, sessionId });
    expect(await send("app:sdk", "and again", ann)).toMatchObject({ turn: 3, sessionId });
  });
});
