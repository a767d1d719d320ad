/** A LangGraph server that ends while it answers: what is left of the turn, and how the thread goes on. */
import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startDevServer, type DevServer } from "#graphs/server/testing/dev-server.ts";
import { startFakeOpenAIServer, type FakeOpenAIServer } from "#src/models/testing/fake-openai-server.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import { turnReplySchema, type TurnReply } from "#src/turns/turn-reply.ts";
import { createClientStore } from "./client-store.ts";

// The server shares the machine with every other test file, and starts twice.
vi.setConfig({ testTimeout: 60_000 });

const GRAPH = "session";
const OWNER = "local";

let models: FakeOpenAIServer;
let server: DevServer;
let client: Client;

/** Keys and threads of the turns that were under way when the server ended. */
const routed = { sessionKey: "restart:routed", thread: "" };
const direct = { sessionKey: "restart:direct", thread: "" };

beforeAll(async () => {
  models = await startFakeOpenAIServer();
  server = await startDevServer({
    LILY_MODEL: "openai:fake",
    OPENAI_API_KEY: "test",
    OPENAI_BASE_URL: models.baseURL,
  });
  client = new Client({ apiUrl: server.url, apiKey: null, callerOptions: { maxRetries: 0 } });
  for (const conversation of [routed, direct]) {
    conversation.thread = (await send(conversation.sessionKey, "hello")).sessionId;
    await beginHanging(conversation);
  }
  // One more waits behind the turn that never ends.
  await client.runs.create(direct.thread, GRAPH, payloadOf("waiting", direct.sessionKey, "waiting-1"));
  await server.restart();
}, 120_000);

afterAll(async () => {
  await server?.stop();
  await models?.close();
});

async function send(sessionKey: string, content: string, deliveryId?: string): Promise<TurnReply> {
  const response = await fetch(`${server.url}/lily/v1/keys/${sessionKey}/messages`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ content, deliveryId }),
  });
  return turnReplySchema.parse(await response.json());
}

function payloadOf(content: string, sessionKey: string, id: string) {
  return {
    input: { messages: [{ type: "human", id, content }] },
    context: { sessionKey },
    multitaskStrategy: "enqueue" as const,
  };
}

/** A turn whose model has begun to answer and goes on for ever. */
async function beginHanging({ sessionKey, thread }: typeof routed): Promise<void> {
  const before = models.requests.length;
  models.enqueue({ kind: "hang", chunks: ["Once upon"] });
  await client.runs.create(thread, GRAPH, payloadOf("Tell me a story.", sessionKey, "cut-off"));
  await vi.waitFor(() => expect(models.requests.length).toBe(before + 1), { timeout: 20_000 });
}

async function saidOn({ sessionKey, thread }: typeof routed): Promise<string[]> {
  const repository = createStoreSessionRepository(createClientStore(client.store));
  const turns = await repository.readTurns(
    { owner: OWNER, sessionKey, sessionId: thread },
    { from: 1, to: 9 },
  );
  return turns.flatMap(({ messages }) => messages.map(({ content }) => content));
}

describe("a turn that was under way when the server ended", () => {
  it("is listed as running for ever by the server itself, and what waits behind it does not begin", async () => {
    const runs = await client.runs.list(direct.thread);
    expect(runs.map(({ status }) => status).toSorted()).toEqual(["pending", "running", "success"]);
    await expect(
      client.runs.wait(direct.thread, GRAPH, {
        ...payloadOf("second", direct.sessionKey, "d"),
        multitaskStrategy: "reject",
      }),
    ).rejects.toMatchObject({ status: 422 });
  });

  it("is cleared by the next message on the key, which is answered; the message of it may come again", async () => {
    models.enqueue({ kind: "text", chunks: ["second answer"] }, { kind: "text", chunks: ["a story"] });
    const reply = await send(routed.sessionKey, "second");
    expect(reply).toMatchObject({ outcome: "answered", turn: 2, sessionId: routed.thread });
    const again = await send(routed.sessionKey, "Tell me a story.", "cut-off");
    expect(again).toMatchObject({ outcome: "answered", turn: 3, repeated: false });
    expect(await saidOn(routed)).toEqual([
      "hello",
      "ok",
      "second",
      "second answer",
      "Tell me a story.",
      "a story",
    ]);
  });

  it("is cleared by a client of the graph with `runs.delete`; what waited behind it is answered then", async () => {
    const [orphan] = await client.runs.list(direct.thread, { status: "running" });
    await client.runs.delete(direct.thread, orphan?.run_id ?? "");
    await vi.waitFor(async () => expect(await saidOn(direct)).toEqual(["hello", "ok", "waiting", "ok"]), {
      timeout: 20_000,
    });
  });
});
