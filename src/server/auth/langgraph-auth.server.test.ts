/** The login on a real LangGraph server, as two users meet it who are curious about each other. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { type DevServer, startDevServer } from "#graphs/server/testing/dev-server.ts";
import { handoffSchema } from "#graphs/session/state.ts";
import { chainNamespace } from "#src/storage/session-items.ts";
import { turnReplySchema } from "#src/turns/turn-reply.ts";
import { hashApiKey, newApiKey } from "./key-entries.ts";
import { writeKeyFile } from "./key-file.ts";
import { installedRoutes } from "./testing/installed-routes.ts";
import { type JwksServer, startJwksServer } from "./testing/jwks-server.ts";

const GRAPH = "session";
/** No id can hold it (S-11). */
const SECRET = "Quimbleton";
const SECRET_TEXT = `the gate opens to ${SECRET}`;
const UNKNOWN = "01890000-0000-7000-8000-000000000001";

// The server shares the machine with every other test file.
vi.setConfig({ testTimeout: 60_000 });

const BEN = "ben, Ünal";
const anaKey = newApiKey();
const benKey = newApiKey();
const benFileKey = newApiKey();

let home: string;
let server: DevServer;
let signer: JwksServer;
let ana: Client;
let ben: Client;

const clientOf = (key: string | null, headers: Record<string, string> = {}) =>
  new Client({
    apiUrl: server.url,
    apiKey: key,
    defaultHeaders: headers,
    callerOptions: { maxRetries: 0 },
  });

beforeAll(async () => {
  home = mkdtempSync(join(tmpdir(), "lily-auth-"));
  signer = await startJwksServer("ES256");
  writeKeyFile(join(home, "api-keys.json"), [{ owner: BEN, hash: hashApiKey(benFileKey) }]);
  const keys = [`ana=${hashApiKey(anaKey)}`, `${encodeURIComponent(BEN)}=${hashApiKey(benKey)}`];
  server = await startDevServer({
    LILY_MODEL: "symbolic",
    LILY_HOME: home,
    LILY_API_KEYS: keys.join(","),
    LILY_JWT_JWKS_URL: signer.url,
  });
  ana = clientOf(anaKey);
  ben = clientOf(benKey);
}, 70_000);

afterAll(async () => {
  await server?.stop();
  await signer?.close();
  rmSync(home, { recursive: true, force: true });
});

const outputSchema = z.object({ reply: turnReplySchema.nullable(), handoff: handoffSchema.nullable() });

const inputOf = (content: string) => ({ messages: [{ type: "human", content }] });

async function say(client: Client, threadId: string, content: string, context: object = {}) {
  const output = await client.runs.wait(threadId, GRAPH, { input: inputOf(content), context });
  return outputSchema.parse(output);
}

async function newThread(client: Client): Promise<string> {
  return (await client.threads.create({ graphId: GRAPH })).thread_id;
}

/** Status of a refused call; what it gave back when it was not refused. */
async function outcomeOf(call: () => Promise<unknown>): Promise<unknown> {
  try {
    return await call();
  } catch (error) {
    const { status } = z.object({ status: z.number() }).parse(error);
    return status;
  }
}

async function collect(stream: AsyncIterable<unknown>): Promise<unknown[]> {
  const parts: unknown[] = [];
  for await (const part of stream) parts.push(part);
  return parts;
}

const request = (path: string, headers: Record<string, string>, method = "GET", body?: unknown) =>
  fetch(`${server.url}${path}`, {
    method,
    headers: { "content-type": "application/json", ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

describe("without a valid key", () => {
  it.each<[string, Record<string, string>]>([
    ["no credential", {}],
    ["an unknown key", { "x-api-key": newApiKey() }],
    ["the header of Studio", { "x-auth-scheme": "langsmith" }],
    ["two keys that disagree", { "x-api-key": benKey, ...bearer(anaKey) }],
    ["a guessed loopback secret", { authorization: "LilyLoopback guess", "on-behalf-of": "ana" }],
  ])("%s is answered with 401 and an envelope", async (_name, headers) => {
    const response = await request("/threads/search", headers, "POST", {});
    expect([response.status, response.headers.get("www-authenticate")]).toEqual([401, "Bearer"]);
    expect(await response.json()).toMatchObject({ ok: false, code: "unauthenticated" });
  });

  it("a load balancer still learns that the server is up", async () => {
    expect((await request("/ok", {})).status).toBe(200);
    expect((await request("/ok", {}, "POST", {})).status).toBe(401);
  });
});

describe("one's own", () => {
  it("conversation works by key in either header, and by token", async () => {
    const token = await signer.sign({ sub: "ana", exp: Math.floor(Date.now() / 1000) + 300 });
    const thread = await newThread(ana);
    expect((await say(ana, thread, "My cat is named Whiskers.")).reply?.turn).toBe(1);
    expect((await say(clientOf(null, bearer(anaKey)), thread, "hello")).reply?.turn).toBe(2);
    const third = await say(clientOf(null, bearer(token)), thread, "What is my cat named?");
    expect(third.reply?.envelope.message).toContain("Whiskers");
  });

  it("thread stays one's own, whatever owner is asked for", async () => {
    const created = await ana.threads.create({ graphId: GRAPH, metadata: { owner: BEN, colour: "red" } });
    expect(created.metadata).toMatchObject({ owner: "ana", colour: "red" });
    const updated = await ana.threads.update(created.thread_id, { metadata: { owner: BEN, colour: "blue" } });
    expect(updated.metadata).toMatchObject({ owner: "ana", colour: "blue" });
    await say(ana, created.thread_id, "hello", { owner: BEN, sessionKey: "test:owner" });
    const { values } = await ana.threads.getState(created.thread_id);
    expect(values).toMatchObject({ session: { owner: "ana" } });
    const run = await ana.runs.create(created.thread_id, GRAPH, {
      input: inputOf("hello again"),
      metadata: { owner: BEN },
    });
    expect(run.metadata).toMatchObject({ owner: "ana" });
    await ana.runs.join(created.thread_id, run.run_id);
  });

  it("thread is found by a search, and no other", async () => {
    const [mine, theirs] = [await newThread(ana), await newThread(ben)];
    const found = (await ana.threads.search({ limit: 1000 })).map(({ thread_id }) => thread_id);
    expect([found.includes(mine), found.includes(theirs)]).toEqual([true, false]);
  });

  it("state cannot be written past the graph, which believes what it says", async () => {
    const thread = await newThread(ben);
    await say(ben, thread, "hello", { sessionKey: "test:state" });
    const { values } = await ben.threads.getState<{ session: object }>(thread);
    const forged = { session: { ...values.session, owner: "ana" } };
    const supersteps = [{ updates: [{ values: forged, asNode: "admit" }] }];
    const outcomes = [
      await outcomeOf(() => ben.threads.updateState(thread, { values: forged, asNode: "admit" })),
      await outcomeOf(() => ben.threads.create({ graphId: GRAPH, supersteps })),
      await outcomeOf(() => ben.runs.wait(thread, GRAPH, { command: { update: forged } })),
      await outcomeOf(() => ben.runs.wait(thread, GRAPH, { command: { goto: "commit" } })),
      await outcomeOf(() => ben.runs.create(thread, GRAPH, { input: null, webhook: "http://127.0.0.1:1/" })),
    ];
    expect(outcomes).toEqual([403, 403, 403, 403, 403]);
    expect((await ben.threads.getState(thread)).values).toMatchObject({ session: { owner: BEN } });
  });
});

describe("another's", () => {
  let thread: string;
  let runId: string;
  let mine: string;

  beforeAll(async () => {
    [thread, mine] = [await newThread(ana), await newThread(ben)];
    await say(ana, thread, SECRET_TEXT, { sessionKey: "test:secret" });
    [runId] = (await ana.runs.list(thread)).map(({ run_id }) => run_id) as [string];
  });

  const refused = [403, 404];

  it.each<[string, () => Promise<unknown>]>([
    ["threads.get", () => ben.threads.get(thread)],
    ["threads.getState", () => ben.threads.getState(thread)],
    ["threads.getHistory", () => ben.threads.getHistory(thread)],
    ["threads.update", () => ben.threads.update(thread, { metadata: { owner: BEN } })],
    ["threads.updateState", () => ben.threads.updateState(thread, { values: { messages: [] } })],
    ["threads.delete", () => ben.threads.delete(thread)],
    ["runs.create", () => ben.runs.create(thread, GRAPH, { input: inputOf("hi") })],
    ["runs.wait", () => ben.runs.wait(thread, GRAPH, { input: inputOf("hi") })],
    ["runs.stream", () => collect(ben.runs.stream(thread, GRAPH, { input: inputOf("hi") }))],
    ["runs.get", () => ben.runs.get(thread, runId)],
    ["runs.get by an own thread", () => ben.runs.get(mine, runId)],
    ["runs.list", () => ben.runs.list(thread)],
    ["runs.cancel", () => ben.runs.cancel(thread, runId)],
    ["runs.cancel by an own thread", () => ben.runs.cancel(mine, runId)],
    ["runs.delete", () => ben.runs.delete(thread, runId)],
    ["runs.delete by an own thread", () => ben.runs.delete(mine, runId)],
    ["runs.join", () => ben.runs.join(thread, runId)],
    ["runs.join by an own thread", () => ben.runs.join(mine, runId)],
    ["runs.joinStream", () => collect(ben.runs.joinStream(thread, runId))],
    ["runs.joinStream by an own thread", () => collect(ben.runs.joinStream(mine, runId))],
    [
      "store.getItem",
      () => ben.store.getItem(chainNamespace({ owner: "ana", sessionKey: "test:secret" }), "chain"),
    ],
    ["store.putItem", () => ben.store.putItem(["sessions", "ana", "x"], "chain", {})],
    ["store.deleteItem", () => ben.store.deleteItem(["sessions", "ana", "x"], "chain")],
    ["store.searchItems", () => ben.store.searchItems([])],
    ["store.listNamespaces", () => ben.store.listNamespaces({})],
    ["assistants.create", () => ben.assistants.create({ graphId: GRAPH })],
  ])("%s is refused", async (_name, call) => {
    expect(refused).toContain(await outcomeOf(call));
  });

  it.each<[string, string, string, unknown]>([
    ["copying the thread", "POST", "/threads/{thread}/copy", {}],
    ["listening by the event protocol", "POST", "/threads/{thread}/stream/events", { channels: ["values"] }],
    ["a command of the event protocol", "POST", "/threads/{thread}/commands", { id: 1, method: "state.get" }],
    ["the same, in an encoded path", "POST", "/threads/{thread}/%63ommands", { id: 1, method: "state.get" }],
    ["a stream, in an encoded path", "GET", "/threads/{mine}/runs/{run}/%73tream", undefined],
    ["wiping the server", "POST", "/internal/truncate", { threads: true }],
    ["the same, in an encoded path", "POST", "/internal/%74runcate", { threads: true }],
    ["a cron", "POST", "/runs/crons", { schedule: "* * * * *", assistant_id: GRAPH }],
  ])("%s is refused", async (_name, method, path, body) => {
    const filled = path.replace("{thread}", thread).replace("{mine}", mine).replace("{run}", runId);
    const response = await request(filled, { "x-api-key": benKey }, method, body);
    expect(response.ok).toBe(false);
    expect(await response.text()).not.toContain(SECRET);
  });

  it("run is not streamed by its id alone, whoever asks", async () => {
    for (const path of [`/runs/${runId}/stream`, `/runs/${runId}/%73tream`])
      for (const key of [anaKey, benKey])
        expect((await request(path, { "x-api-key": key })).status).toBe(404);
  });

  it("run and thread are given away by no route of the server, whatever ids its path is filled with (S-1)", async () => {
    const [assistant] = await ben.assistants.search();
    const { checkpoint } = await ana.threads.getState(thread);
    const routes = installedRoutes().filter((route) => route !== "DELETE /assistants/:assistant_id");
    for (const route of routes) {
      for (const named of [thread, await newThread(ben)]) {
        const [method = "", path = ""] = route.split(" ");
        const filled = path
          .replace(":thread_id", named)
          .replace(":run_id", runId)
          .replace(":checkpoint_id", checkpoint.checkpoint_id ?? UNKNOWN)
          .replace(":assistant_id", assistant?.assistant_id ?? UNKNOWN)
          .replace(/:\w+\??/u, "x");
        const isBodiless = method === "GET" || method === "DELETE";
        const body = isBodiless ? undefined : { assistant_id: GRAPH, thread_id: thread, limit: 1000 };
        const response = await request(filled, { "x-api-key": benKey }, method, body);
        const text = await response.text();
        expect({ route, gives: text.includes(SECRET) || text.includes(`"owner":"ana"`) }).toEqual({
          route,
          gives: false,
        });
        // Nothing is done to it either: what is refused is refused with a status of the 400s.
        if (named === thread && path.includes(":thread_id"))
          expect([route, Math.floor(response.status / 100)]).toEqual([route, 4]);
      }
    }
    expect(await ana.runs.list(thread)).toHaveLength(1);
  });

  it("thread that is named inside a request to an own one is not used", async () => {
    const config = { configurable: { thread_id: thread, langgraph_auth_user: { identity: "ana" } } };
    const answers = [
      await outcomeOf(() => ben.runs.wait(mine, GRAPH, { input: inputOf("hi"), config })),
      await (
        await request(`/threads/${mine}/history`, bearer(benKey), "POST", { checkpoint: config.configurable })
      ).json(),
      await (
        await request(`/threads/${mine}/state/checkpoint`, bearer(benKey), "POST", {
          checkpoint: config.configurable,
        })
      ).json(),
    ];
    expect(JSON.stringify(answers)).not.toMatch(new RegExp(`${SECRET}|${thread}|"ana"`, "u"));
    expect(await ana.runs.list(thread)).toHaveLength(1);
  });

  it("key is another conversation for somebody else, and nothing of it is recalled", async () => {
    const { reply } = await say(ben, mine, "To what does the gate open?", {
      sessionKey: "test:secret",
      owner: "ana",
    });
    expect(JSON.stringify(reply)).not.toContain(SECRET);
    expect((await ben.threads.getState(mine)).values).toMatchObject({ session: { owner: BEN } });
  });

  it("session is not opened by a thread that was made for its id", async () => {
    await ana.threads.delete(thread);
    await ben.threads.create({ threadId: thread, graphId: GRAPH });
    const { reply } = await say(ben, thread, "To what does the gate open?", { sessionKey: "test:secret" });
    expect(reply?.envelope).toMatchObject({ ok: false, code: "session_not_yours" });
  });
});

it("a hand-off makes the next thread for the owner, and stores no key and no secret of the server", async () => {
  const thread = await newThread(ana);
  await say(ana, thread, "hello", { sessionKey: "test:handoff" });
  const { handoff } = await say(ana, thread, "/new hello again", { sessionKey: "test:handoff" });
  const successor = handoff?.sessionId ?? UNKNOWN;
  expect((await ana.threads.get(successor)).metadata).toMatchObject({
    owner: "ana",
    session_key: "test:handoff",
  });
  const [run] = await ana.runs.list(successor);
  if (run === undefined) throw new Error("no run on the next thread");
  const output = outputSchema.parse(await ana.runs.join(successor, run.run_id));
  expect(output.reply?.outcome).toBe("answered");
  expect(await outcomeOf(() => ben.threads.get(successor))).toBe(404);

  const stored = JSON.stringify([
    await ana.threads.getHistory(thread),
    await ana.threads.getHistory(successor),
    await ana.runs.list(thread),
    run,
  ]);
  expect(stored).toContain("langgraph_auth_user");
  for (const secret of [anaKey, hashApiKey(anaKey), "LilyLoopback", "on-behalf-of"]) {
    expect(stored).not.toContain(secret);
  }
});

it("a key that is taken out of the file stops working without a restart", async () => {
  const withFileKey = clientOf(benFileKey);
  expect(await outcomeOf(() => withFileKey.threads.search())).toEqual(await ben.threads.search());
  writeKeyFile(join(home, "api-keys.json"), []);
  expect(await outcomeOf(() => withFileKey.threads.search())).toBe(401);
});
