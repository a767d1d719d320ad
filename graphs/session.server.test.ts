/** The session graph on a real LangGraph server, as Studio and SDK clients meet it. */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { startModelledServer, type ModelledServer } from "./server/testing/modelled-server.ts";
import {
  GRAPH,
  connect,
  linesOf,
  parseOutput,
  payloadOf,
  type Output,
  type SessionClient,
} from "./server/testing/session-client.ts";

// The server shares the machine with every other test file.
vi.setConfig({ testTimeout: 60_000 });

const saidSchema = z.object({ messages: z.array(z.object({ role: z.string(), content: z.unknown() })) });

const messageSchema = z.object({
  type: z.string(),
  content: z.string(),
  tool_call_chunks: z.array(z.unknown()).optional(),
});

let started: ModelledServer;
let models: ModelledServer["models"];
let server: ModelledServer["server"];
let lily: SessionClient;
let client: SessionClient["client"];

beforeAll(async () => {
  started = await startModelledServer({ TZ: "GMT+3" });
  ({ models, server } = started);
  // A question is answered with all that users said in its prompt, everything else with "ok" in two pieces.
  models.always((body) => {
    const said = saidSchema.parse(body).messages.filter(({ role }) => role === "user");
    const texts = said.map(({ content }) => JSON.stringify(content));
    return { kind: "text", chunks: texts.at(-1)?.includes("?") === true ? [texts.join("\n")] : ["o", "k"] };
  });
  lily = connect(server.url);
  ({ client } = lily);
}, 70_000);

afterAll(() => started?.stop());

/** The session that a run handed its message to. */
function successorOf(output: Output): string {
  if (output.handoff === null) throw new Error(`not handed off: ${JSON.stringify(output.reply)}`);
  return output.handoff.sessionId;
}

/** Waits for the newest run of a thread, whoever started it. */
async function answerOn(threadId: string): Promise<Output> {
  // In the order in which they were made.
  const run = (await client.runs.list(threadId, { limit: 100 })).at(-1);
  if (run === undefined) throw new Error(`no run on ${threadId}`);
  return parseOutput(await client.runs.join(threadId, run.run_id));
}

/** Everything that is in the store, by namespace and key. */
async function stored(): Promise<string[]> {
  const { namespaces } = await client.store.listNamespaces({ limit: 1000 });
  const found = await Promise.all(
    namespaces.map((namespace) => client.store.searchItems(namespace, { limit: 1000 })),
  );
  return found
    .flatMap(({ items }) => items.map(({ namespace, key }) => [...namespace, key].join("/")))
    .toSorted();
}

async function threadIds(): Promise<string[]> {
  return (await client.threads.search({ limit: 1000 })).map(({ thread_id: id }) => id).toSorted();
}

async function post(path: string, body: unknown): Promise<Response> {
  return fetch(`${server.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
}

const hello = { messages: [{ type: "human", content: "hello" }] };

describe.concurrent("a conversation on one thread", () => {
  it("is remembered from turn to turn", async () => {
    const thread = await lily.newThread();
    const first = await lily.send(thread, "My cat is named Whiskers.", { sessionKey: "test:memory" });
    const second = await lily.send(thread, "What is my cat named?", { sessionKey: "test:memory" });
    expect(first.reply).toMatchObject({ outcome: "answered", turn: 1, sessionId: thread });
    expect(second.reply).toMatchObject({ outcome: "answered", turn: 2, sessionId: thread });
    expect(second.reply?.envelope.message).toContain("My cat is named Whiskers.");
  });

  it("goes on in one session under a key with capital letters", async () => {
    const thread = await lily.newThread();
    const turns = [];
    for (const text of ["one", "two", "three"])
      turns.push(await lily.send(thread, text, { sessionKey: "Team-A" }));
    expect(turns.map(({ reply }) => [reply?.sessionId, reply?.turn])).toEqual(
      [1, 2, 3].map((turn) => [thread, turn]),
    );
    expect(await lily.transcript("Team-A", thread)).toHaveLength(3);
    expect(await lily.transcript("team-a", thread)).toEqual([]);
  });

  it("needs no key: the thread is its own", async () => {
    const thread = await lily.newThread();
    await lily.send(thread, "The gate code is 4711.");
    const { reply } = await lily.send(thread, "What is the gate code?");
    expect(reply?.envelope.message).toContain("4711");
    expect(await lily.transcript(thread, thread)).toHaveLength(2);
  });

  it("answers a message that is sent again from what is stored, without a second run of it", async () => {
    const thread = await lily.newThread();
    const first = await lily.send(thread, "Remember the milk.", {
      id: "delivery-1",
      sessionKey: "test:again",
    });
    const again = await lily.send(thread, "Remember the milk.", {
      id: "delivery-1",
      sessionKey: "test:again",
    });
    expect(again.reply).toEqual({ ...first.reply, repeated: true });
    expect(await lily.transcript("test:again", thread)).toHaveLength(1);
    const conversation = ({ messages }: Output) =>
      messages.filter(({ content }) => content !== first.reply?.notice);
    expect(conversation(again)).toEqual(conversation(first));
  });

  it("shares no thread with another client, and reads nothing of it", async () => {
    const [one, other] = [await lily.newThread(), await lily.newThread()];
    await lily.send(one, "My cat is named Whiskers.");
    const { reply } = await lily.send(other, "What is my cat named?");
    expect(one).not.toBe(other);
    expect(reply?.envelope.message).not.toContain("Whiskers");
  });

  it("on a thread that is not known to the server is refused unless the client asks for it to be made", async () => {
    const thread = randomUUID();
    // With 422 and the text of a busy thread, which is the server's own mistake.
    await expect(lily.send(thread, "hello")).rejects.toMatchObject({ status: 422 });
    const values = await client.runs.wait(thread, GRAPH, { input: hello, ifNotExists: "create" });
    expect(parseOutput(values).reply).toMatchObject({ outcome: "answered", sessionId: thread });
  });

  it("is answered on a machine that names no time zone, which is told once (F-2)", async () => {
    const thread = await lily.newThread();
    expect((await lily.send(thread, "hello")).reply).toMatchObject({ outcome: "answered" });
    expect(server.log().match(/TZ is "GMT\+3".*Set timeZone in config\.json/gu)).toHaveLength(1);
  });
});

describe.concurrent("a message that belongs to another session", () => {
  it("is answered on the new thread after /new, though the caller follows nothing", async () => {
    const sessionKey = "test:new";
    const old = await lily.newThread();
    await lily.send(old, "My cat is named Whiskers.", { sessionKey });
    const ended = await lily.send(old, "/new plan dinner", { id: "new-1", sessionKey });
    const successor = successorOf(ended);
    expect(ended).toMatchObject({
      reply: null,
      handoff: { message: { id: "new-1", content: "plan dinner" } },
    });
    const answered = await answerOn(successor);
    expect(answered.reply).toMatchObject({
      outcome: "answered",
      turn: 1,
      sessionId: successor,
      deliveryId: "new-1",
    });
    const [turn] = await lily.transcript(sessionKey, successor);
    expect(turn?.messages[0]).toMatchObject({ role: "user", content: "plan dinner" });
    expect(await client.threads.get(successor)).toMatchObject({
      metadata: { session_key: sessionKey, owner: "local" },
    });
  });

  it("is handed from an ended thread to the latest session, which answers it", async () => {
    const sessionKey = "test:old";
    const old = await lily.newThread();
    await lily.send(old, "hello", { sessionKey });
    const successor = successorOf(await lily.send(old, "/new The picnic is on Friday.", { sessionKey }));
    await answerOn(successor);
    const late = await lily.send(old, "When is the picnic?", { id: "late-1", sessionKey });
    expect(successorOf(late)).toBe(successor);
    const answered = await answerOn(successor);
    expect(answered.reply).toMatchObject({ deliveryId: "late-1", turn: 2 });
    expect(answered.reply?.envelope.message).toContain("The picnic is on Friday.");
  });

  it("is handed from a new thread of a key in use to the session that is latest", async () => {
    const latest = await lily.newThread();
    await lily.send(latest, "hello", { sessionKey: "test:shared" });
    expect(
      successorOf(await lily.send(await lily.newThread(), "hello again", { sessionKey: "test:shared" })),
    ).toBe(latest);
    expect((await answerOn(latest)).reply).toMatchObject({ outcome: "answered", turn: 2 });
  });

  it("is started by the caller alone when the caller says that it follows hand-offs", async () => {
    const old = await lily.newThread();
    await lily.send(old, "hello", { sessionKey: "test:follows" });
    const ended = parseOutput(
      await client.runs.wait(old, GRAPH, {
        input: { messages: [{ type: "human", content: "/new plan dinner" }] },
        context: { sessionKey: "test:follows", followsHandoff: true },
      }),
    );
    const successor = successorOf(ended);
    expect(await client.runs.list(successor)).toEqual([]);
    const { id, content } = ended.handoff?.message ?? { id: "", content: "" };
    const { reply } = await lily.send(successor, typeof content === "string" ? content : "", {
      id,
      sessionKey: "test:follows",
    });
    expect(reply).toMatchObject({ outcome: "answered", turn: 1, sessionId: successor });
  });
});

describe.concurrent("the latest session of a key", () => {
  /** Ids of the threads that a client finds of a key: those that go on, and those that have ended. */
  async function found(sessionKey: string): Promise<{ open: string[]; sealed: string[] }> {
    const search = async (sealed: boolean) =>
      (await client.threads.search({ metadata: { session_key: sessionKey, owner: "local", sealed } })).map(
        ({ thread_id: id }) => id,
      );
    return { open: await search(false), sealed: await search(true) };
  }

  it("is found by a search from the first message on", async () => {
    const thread = await lily.newThread();
    await lily.send(thread, "hello", { sessionKey: "find:first" });
    expect(await found("find:first")).toEqual({ open: [thread], sealed: [] });
    await lily.send(await lily.newThread(), "hello again", { sessionKey: "find:first" });
    expect(await found("find:first")).toEqual({ open: [thread], sealed: [] });
  });

  it("is found after /new with a text and without one, and takes the next message", async () => {
    const sessionKey = "find:new";
    const [first] = [await lily.newThread()];
    await lily.send(first, "hello", { sessionKey });
    const second = successorOf(await lily.send(first, "/new plan dinner", { sessionKey }));
    expect(await found(sessionKey)).toEqual({ open: [second], sealed: [first] });
    await answerOn(second);
    const { reply } = await lily.send(second, "/new", { sessionKey });
    expect(reply?.outcome).toBe("rotated");
    const { open, sealed } = await found(sessionKey);
    expect(sealed.toSorted()).toEqual([first, second].toSorted());
    expect(open).toEqual([reply?.sessionId]);
    const next = await lily.send(open[0] ?? "", "hello", { sessionKey });
    expect(next).toMatchObject({ reply: { turn: 1, sessionId: open[0] }, handoff: null });
    expect(await found(sessionKey)).toMatchObject({ open });
  });

  it("is the thread itself where no key is given", async () => {
    const thread = await lily.newThread();
    await lily.send(thread, "hello");
    expect(await found(thread)).toEqual({ open: [thread], sealed: [] });
  });
});

describe.concurrent("a malformed input", () => {
  it.each([
    ["nothing", {}],
    ["no message", { messages: [] }],
    ["null for messages", { messages: null }],
    ["null for a message", { messages: [null] }],
    ["null for content", { messages: [{ type: "human", content: null }] }],
    ["a blank message", { messages: [{ type: "human", content: " \n" }] }],
    ["an object that is no message", { messages: [{ hello: "world" }] }],
    ["an answer", { messages: [{ type: "ai", content: "I said this." }] }],
  ])("that is %s is refused with a code and stores nothing", async (_what, input) => {
    const thread = await lily.newThread();
    const output = parseOutput(
      await client.runs.wait(thread, GRAPH, { input, context: { sessionKey: "test:bad" } }),
    );
    expect(output.reply).toMatchObject({ outcome: "refused", turn: null, envelope: { ok: false } });
    expect(output.reply?.envelope.code).toMatch(/^message_(?:blank|invalid)$/u);
    expect(await client.runs.list(thread)).toMatchObject([{ status: "success" }]);
    expect(await lily.transcript("test:bad", thread)).toEqual([]);
  });

  it("that is several messages is refused as a whole, and the thread goes on", async () => {
    const thread = await lily.newThread();
    const sessionKey = "clients:several";
    await lily.send(thread, "The code is 4711.", { sessionKey });
    const two = { messages: [hello.messages[0], { type: "human", content: "and this" }] };
    const values = await client.runs.wait(thread, GRAPH, { input: two, context: { sessionKey } });
    expect(parseOutput(values).reply).toMatchObject({
      outcome: "refused",
      envelope: { code: "message_multiple" },
    });
    expect(parseOutput(values).messages.map(({ content }) => content)).not.toContain("and this");
    expect((await lily.send(thread, "What is the code?", { sessionKey })).reply).toMatchObject({ turn: 2 });
    expect(linesOf(await lily.transcript(sessionKey, thread)).join("\n")).not.toContain("and this");
  });
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
});

describe("what is stored stays as it is", () => {
  it("when a client sends nothing on a thread in use: no turn, no rollover, no blank message", async () => {
    const thread = await lily.newThread();
    const sessionKey = "clients:nothing";
    await lily.send(thread, "hello", { sessionKey });
    const before = { items: await stored(), threads: await threadIds() };
    for (const input of [null, {}, { messages: [] }])
      // What the server itself refuses of it is as good as a refusal in the reply.
      await client.runs.wait(thread, GRAPH, { input, context: { sessionKey } }).catch(() => undefined);
    expect({ items: await stored(), threads: await threadIds() }).toEqual(before);
    const { values } = await client.threads.getState(thread);
    const said = parseOutput(values).messages.filter(({ type }) => type === "human");
    expect(said.map(({ content }) => content)).toEqual(["hello"]);
    expect((await lily.send(thread, "again", { sessionKey })).reply).toMatchObject({
      outcome: "answered",
      turn: 2,
    });
  });

  it("when a message on the thread of one key names another key, and is refused", async () => {
    const thread = await lily.newThread();
    await lily.send(thread, "hello", { sessionKey: "clients:mine" });
    const before = await stored();
    const { reply } = await lily.send(thread, "hello", { sessionKey: "clients:yours" });
    expect(reply).toMatchObject({ outcome: "refused", envelope: { code: "session_key_mismatch" } });
    expect(await stored()).toEqual(before);
  });

  it("when the health of the server is asked for", async () => {
    const before = { items: await stored(), threads: await threadIds() };
    for (const path of ["/ok", "/info", "/ok"])
      expect((await fetch(`${server.url}${path}`)).status).toBe(200);
    expect({ items: await stored(), threads: await threadIds() }).toEqual(before);
  });
});

const ALL_MODES = ["messages-tuple", "updates", "custom", "values"] as const;

type Mode = (typeof ALL_MODES)[number];

/** The data of a run's events, by event. */
async function stream(threadId: string, content: string, sessionKey: string, modes: readonly Mode[]) {
  const events = new Map<string, unknown[]>();
  const run = { ...payloadOf(content, { sessionKey }), streamMode: [...modes] };
  for await (const { event, data } of client.runs.stream(threadId, GRAPH, run))
    events.set(event, [...(events.get(event) ?? []), data]);
  return events;
}

const messagesIn = (events: ReadonlyMap<string, readonly unknown[]>) =>
  (events.get("messages") ?? []).map((data) => messageSchema.parse(z.array(z.unknown()).parse(data)[0]));

const textsIn = (events: ReadonlyMap<string, readonly unknown[]>): string[] =>
  messagesIn(events).map(({ content }) => content);

/** Pieces of the answer, as against whole messages that steps add. */
const pieces = (events: ReadonlyMap<string, readonly unknown[]>): string[] =>
  messagesIn(events)
    .filter(({ content, tool_call_chunks: chunks }) => chunks !== undefined && content !== "")
    .map(({ content }) => content);

/** The steps that events of `updates` tell of. */
const stepsIn = (events: ReadonlyMap<string, readonly unknown[]>): string[] =>
  (events.get("updates") ?? []).flatMap((update) => Object.keys(z.object({}).loose().parse(update)));

describe.concurrent("a turn in one mode alone", () => {
  it("tells the pieces of the answer with `messages-tuple`", async () => {
    const events = await stream(await lily.newThread(), "hi", "stream:messages", ["messages-tuple"]);
    expect([...events.keys()].toSorted()).toEqual(["messages", "metadata"]);
    expect(pieces(events)).toEqual(["o", "k"]);
  });

  it("tells each step with `updates`", async () => {
    const events = await stream(await lily.newThread(), "hi", "stream:updates", ["updates"]);
    expect(stepsIn(events)).toEqual(["admit", "decideRollover", "assembleContext", "callModel", "commit"]);
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
});

describe("a turn in all modes at once", () => {
  it("ends with one answer in each", async () => {
    models.enqueue({ kind: "text", chunks: ["one ", "answer"] });
    const events = await stream(await lily.newThread(), "hi", "stream:all", ALL_MODES);
    expect(events.has("error")).toBe(false);
    expect(pieces(events).join("")).toBe("one answer");
    const { messages } = parseOutput(events.get("values")?.at(-1));
    expect(messages.filter(({ content }) => content === "one answer")).toHaveLength(1);
  });

  it("tells which tool its model used, which finds what an earlier session said", async () => {
    const sessionKey = "stream:tool";
    const old = await lily.newThread();
    await lily.send(old, "The boat is called Albatross.", { sessionKey });
    const thread = successorOf(await lily.send(old, "/new hello", { sessionKey }));
    await answerOn(thread);
    const query = JSON.stringify({ query: "boat", rationale: "the user asks for its name" });
    models.enqueue(
      { kind: "toolCalls", calls: [{ id: "call-1", name: "session_recall", arguments: query }] },
      { kind: "text", chunks: ["Alba", "tross."] },
    );
    const events = await stream(thread, "What did I call the boat?", sessionKey, ALL_MODES);
    expect(events.get("custom")).toEqual([{ type: "tool", name: "session_recall" }]);
    expect(stepsIn(events).slice(-4)).toEqual(["callModel", "runTools", "callModel", "commit"]);
    expect(pieces(events)).toEqual(["Alba", "tross."]);
    expect(JSON.stringify(models.requests.at(-1)?.body)).toContain("The boat is called Albatross.");
  });

  it("has one message with its answer where no model is asked", async () => {
    const thread = await lily.newThread();
    await lily.send(thread, "/model symbolic", { sessionKey: "stream:symbolic" });
    const events = await stream(thread, "hello", "stream:symbolic", ALL_MODES);
    expect(textsIn(events).filter((text) => text.startsWith("Noted."))).toHaveLength(1);
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

describe.concurrent("the state of a thread", () => {
  it("has the conversation and the reply of the latest run, and nothing is left to do", async () => {
    const thread = await lily.newThread();
    await lily.send(thread, "one", { sessionKey: "state:now" });
    await lily.send(thread, "two", { sessionKey: "state:now" });
    const state = await client.threads.getState(thread);
    expect(state.next).toEqual([]);
    const { messages, reply } = parseOutput(state.values);
    expect(messages.map(({ content }) => content)).toEqual(["one", "ok", "two", "ok"]);
    expect(reply?.turn).toBe(2);
  });

  it("has a history whose newest checkpoint of each run is the committed turn", async () => {
    const thread = await lily.newThread();
    await lily.send(thread, "one", { sessionKey: "state:history" });
    await lily.send(thread, "two", { sessionKey: "state:history" });
    const history = await client.threads.getHistory(thread, { limit: 100 });
    const ended = history.filter(({ next }) => next.length === 0);
    expect(ended.map(({ values }) => parseOutput(values).reply?.turn)).toEqual([2, 1]);
    const times = history.map(({ created_at: at }) => Date.parse(at ?? ""));
    expect(times).toEqual(times.toSorted((one, other) => other - one));
  });

  it("is told of a run in the list of its thread's runs", async () => {
    const thread = await lily.newThread();
    await lily.send(thread, "one", { sessionKey: "state:runs" });
    expect(await client.runs.list(thread)).toMatchObject([{ status: "success", thread_id: thread }]);
    expect((await client.threads.get(thread)).status).toBe("idle");
  });
});

describe("what a client can see", () => {
  it("names the input and the output in the schemas", async () => {
    const schemas = await client.assistants.getSchemas(GRAPH);
    expect(schemas.input_schema?.properties).toHaveProperty("messages");
    expect(schemas.input_schema?.properties).not.toHaveProperty("turn");
    expect(schemas.output_schema?.properties).toHaveProperty("reply");
  });

  it("draws every step of a turn and the ways between them", async () => {
    const { nodes, edges } = await client.assistants.getGraph(GRAPH, { xray: true });
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

  it("reads a server log without warnings and errors", () => {
    const lines = server.log().split("\n");
    expect(lines).toContainEqual(expect.stringContaining("Server running at"));
    expect(lines.filter((line) => /\b(?:warn|error)\b/iu.test(line))).toEqual([]);
  });
});
