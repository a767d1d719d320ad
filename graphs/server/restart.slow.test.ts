/** A LangGraph server that ends while it answers: what is left of the turn, and how the thread goes on. */
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startModelledServer, type ModelledServer } from "./testing/modelled-server.ts";
import { GRAPH, connect, linesOf, payloadOf, type SessionClient } from "./testing/session-client.ts";

// The server shares the machine with every other test file, and starts twice.
vi.setConfig({ testTimeout: 60_000 });

const sessionKey = "restart:direct";

let started: ModelledServer;
let lily: SessionClient;
let thread: string;

beforeAll(async () => {
  started = await startModelledServer();
  const { models, server } = started;
  lily = connect(server.url);
  thread = await lily.newThread();
  await lily.send(thread, "hello", { sessionKey });
  models.enqueue({ kind: "hang", chunks: ["Once upon"] });
  await begin("Tell me a story.", "cut-off");
  await vi.waitUntil(() => models.requests.length > 1, { timeout: 20_000 });
  // One more waits behind the turn that never ends.
  await begin("waiting", "waiting-1");
  await server.restart();
}, 120_000);

afterAll(() => started?.stop());

async function begin(content: string, id: string): Promise<void> {
  const payload = payloadOf(content, { id, sessionKey, multitaskStrategy: "enqueue" });
  await lily.client.runs.create(thread, GRAPH, payload);
}

describe("a turn that was under way when the server ended", () => {
  it("is listed as running for ever by the server itself, and what waits behind it does not begin", async () => {
    const runs = await lily.client.runs.list(thread);
    expect(runs.map(({ status }) => status).toSorted()).toEqual(["pending", "running", "success"]);
    await expect(lily.send(thread, "second", { id: "d", sessionKey })).rejects.toMatchObject({ status: 422 });
  });

  it("is cleared by `runs.delete`; what waited behind it is answered, and its message may come again", async () => {
    const [orphan] = await lily.client.runs.list(thread, { status: "running" });
    await lily.client.runs.delete(thread, orphan?.run_id ?? "");
    const said = ["user: hello", "assistant: ok", "user: waiting", "assistant: ok"];
    await vi.waitFor(async () => expect(linesOf(await lily.transcript(sessionKey, thread))).toEqual(said), {
      timeout: 20_000,
    });
    const again = await lily.send(thread, "Tell me a story.", { id: "cut-off", sessionKey });
    expect(again.reply).toMatchObject({ outcome: "answered", turn: 3, repeated: false });
  });
});
