/** Clients that send what they should not, or nothing at all: what they are told, and that nothing is stored of it. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { startDevServer, type DevServer } from "./testing/dev-server.ts";
import { GRAPH, connect, linesOf, parseOutput, type SessionClient } from "./testing/session-client.ts";

// The server shares the machine with every other test file.
vi.setConfig({ testTimeout: 60_000 });

let server: DevServer;
let lily: SessionClient;

beforeAll(async () => {
  server = await startDevServer({ LILY_MODEL: "symbolic", TZ: "GMT+3" });
  lily = connect(server.url);
}, 70_000);

afterAll(async () => {
  await server?.stop();
});

/** Everything that is in the store, by namespace and key. */
async function stored(): Promise<string[]> {
  const { namespaces } = await lily.client.store.listNamespaces({ limit: 1000 });
  const found = await Promise.all(
    namespaces.map((namespace) => lily.client.store.searchItems(namespace, { limit: 1000 })),
  );
  return found
    .flatMap(({ items }) => items.map(({ namespace, key }) => [...namespace, key].join("/")))
    .toSorted();
}

async function threadIds(): Promise<string[]> {
  return (await lily.client.threads.search({ limit: 1000 })).map(({ thread_id: id }) => id).toSorted();
}

async function post(path: string, body: unknown): Promise<Response> {
  return fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

const hello = { messages: [{ type: "human", content: "hello" }] };

it("a machine that names no time zone is told of once, and answers all the same (F-2)", async () => {
  const thread = await lily.newThread();
  expect((await lily.send(thread, "hello")).reply).toMatchObject({ outcome: "answered" });
  expect(server.log().match(/TZ is "GMT\+3".*Set timeZone in config\.json/gu)).toHaveLength(1);
});

describe("a thread id", () => {
  it.each([
    ["blank", "%20"],
    ["no UUID", "cli%3Amain"],
    ["a number", "42"],
    ["null", "null"],
    ["an object", "%7B%7D"],
    ["10,000 characters long", "a".repeat(10_000)],
    ["a path", "..%2F..%2Fetc%2Fpasswd"],
    ["a UUID with a NUL", "0b1e7a3c-6a3f-4c1a-9d55-0a0a0a0a0a0a%00"],
  ])("that is %s is refused by the server, and nothing is stored", async (_what, id) => {
    const before = { items: await stored(), threads: await threadIds() };
    const response = await post(`/threads/${id}/runs/wait`, {
      assistant_id: GRAPH,
      input: hello,
      if_not_exists: "create",
    });
    expect(response.status).toBe(400);
    expect({ items: await stored(), threads: await threadIds() }).toEqual(before);
  });

  it("that is not known to the server is refused by the server unless the client asks for it to be made", async () => {
    const thread = randomUUID();
    // With 422 and the text of a busy thread, which is the server's own mistake.
    await expect(lily.send(thread, "hello")).rejects.toMatchObject({ status: 422 });
    const values = await lily.client.runs.wait(thread, GRAPH, { input: hello, ifNotExists: "create" });
    expect(parseOutput(values).reply).toMatchObject({ outcome: "answered", sessionId: thread });
  });
});

describe("an input", () => {
  it("of several messages is refused as a whole, and the thread goes on", async () => {
    const thread = await lily.newThread();
    const sessionKey = "clients:several";
    await lily.send(thread, "The code is 4711.", { sessionKey });
    const two = { messages: [hello.messages[0], { type: "human", content: "and this" }] };
    const values = await lily.client.runs.wait(thread, GRAPH, { input: two, context: { sessionKey } });
    expect(parseOutput(values).reply).toMatchObject({
      outcome: "refused",
      envelope: { code: "message_multiple" },
    });
    expect(parseOutput(values).messages.map(({ content }) => content)).not.toContain("and this");
    expect((await lily.send(thread, "What is the code?", { sessionKey })).reply).toMatchObject({ turn: 2 });
    expect(linesOf(await lily.transcript(sessionKey, thread)).join("\n")).not.toContain("and this");
  });

  it.each([
    ["null", null],
    ["an empty object", {}],
    ["no messages", { messages: [] }],
  ])("that is %s makes no turn, no rollover and no blank message on a thread in use", async (what, input) => {
    const thread = await lily.newThread();
    const sessionKey = `clients:${what}`;
    await lily.send(thread, "hello", { sessionKey });
    const before = { items: await stored(), threads: await threadIds() };
    // What the server itself refuses of it is as good as a refusal in the reply.
    await lily.client.runs.wait(thread, GRAPH, { input, context: { sessionKey } }).catch(() => undefined);
    expect({ items: await stored(), threads: await threadIds() }).toEqual(before);
    const { values } = await lily.client.threads.getState(thread);
    const said = parseOutput(values).messages.filter(({ type }) => type === "human");
    expect(said.map(({ content }) => content)).toEqual(["hello"]);
    expect((await lily.send(thread, "again", { sessionKey })).reply).toMatchObject({
      outcome: "answered",
      turn: 2,
    });
  });
});

describe("two clients that use the server as it is set up", () => {
  it("share no thread and read nothing of each other", async () => {
    const [one, other] = [await lily.newThread(), await lily.newThread()];
    await lily.send(one, "My cat is named Whiskers.");
    const { reply } = await lily.send(other, "What is my cat named?");
    expect(one).not.toBe(other);
    expect(reply?.envelope.message).not.toContain("Whiskers");
  });

  it("store nothing by health checks", async () => {
    const before = { items: await stored(), threads: await threadIds() };
    for (const path of ["/ok", "/info", "/ok"])
      expect((await fetch(`${server.url}${path}`)).status).toBe(200);
    expect({ items: await stored(), threads: await threadIds() }).toEqual(before);
  });
});

describe("a thread of one key", () => {
  it("refuses a message that names another, and stores nothing of it", async () => {
    const thread = await lily.newThread();
    await lily.send(thread, "hello", { sessionKey: "clients:mine" });
    const before = await stored();
    const { reply } = await lily.send(thread, "hello", { sessionKey: "clients:yours" });
    expect(reply).toMatchObject({ outcome: "refused", envelope: { code: "session_key_mismatch" } });
    expect(await stored()).toEqual(before);
  });
});
