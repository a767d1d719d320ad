/** The session graph on a real LangGraph server, as Studio and SDK clients meet it. */
import { Client } from "@langchain/langgraph-sdk";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { z } from "zod";
import { historyNamespace } from "#src/storage/session-namespaces.ts";
import { fromTurnItem } from "#src/storage/session-items.ts";
import { turnRecordSchema, type TurnRecord } from "#src/sessions/turn-record.ts";
import { startFakeOpenAIServer, type FakeOpenAIServer } from "#src/models/testing/fake-openai-server.ts";
import { turnReplySchema } from "#src/turns/turn-reply.ts";
import { startDevServer, type DevServer } from "./server/testing/dev-server.ts";
import { handoffSchema } from "./session/state.ts";

const GRAPH = "session";

// The server shares the machine with every other test file.
vi.setConfig({ testTimeout: 60_000 });

const outputSchema = z.object({
  reply: turnReplySchema.nullable(),
  handoff: handoffSchema.nullable(),
  messages: z.array(z.object({ type: z.string(), content: z.string() })),
});

const textSchema = z.object({ content: z.string() });

type Output = z.infer<typeof outputSchema>;

let models: FakeOpenAIServer;
let server: DevServer;
let client: Client;

beforeAll(async () => {
  models = await startFakeOpenAIServer();
  // The built-in solver answers; a conversation that chooses a model has a server that speaks OpenAI's API.
  server = await startDevServer({ LILY_MODEL: "symbolic", OPENAI_BASE_URL: models.baseURL });
  client = new Client({ apiUrl: server.url, apiKey: null });
}, 70_000);

afterAll(async () => {
  await server?.stop();
  await models?.close();
});

async function newThread(): Promise<string> {
  return (await client.threads.create()).thread_id;
}

interface Sent {
  readonly id?: string;
  readonly sessionKey?: string;
}

/** One run with one user message. */
async function send(threadId: string, content: string, { id, sessionKey }: Sent = {}): Promise<Output> {
  const message = { type: "human", content, ...(id === undefined ? {} : { id }) };
  const context = sessionKey === undefined ? {} : { sessionKey };
  return outputSchema.parse(
    await client.runs.wait(threadId, GRAPH, { input: { messages: [message] }, context }),
  );
}

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
  return outputSchema.parse(await client.runs.join(threadId, run.run_id));
}

async function transcriptOf(sessionKey: string, sessionId: string): Promise<TurnRecord[]> {
  const { items } = await client.store.searchItems(
    historyNamespace({ owner: "local", sessionKey, sessionId }),
  );
  return items
    .map((item) => turnRecordSchema.parse(fromTurnItem(item.value, item)))
    .toSorted((one, other) => one.turn - other.turn);
}

describe.concurrent("a conversation on one thread", () => {
  it("is remembered from turn to turn", async () => {
    const thread = await newThread();
    const first = await send(thread, "My cat is named Whiskers.", { sessionKey: "test:memory" });
    const second = await send(thread, "What is my cat named?", { sessionKey: "test:memory" });
    expect(first.reply).toMatchObject({ outcome: "answered", turn: 1, sessionId: thread });
    expect(second.reply).toMatchObject({ outcome: "answered", turn: 2, sessionId: thread });
    expect(second.reply?.envelope.message).toContain("My cat is named Whiskers.");
  });

  it("goes on in one session under a key with capital letters", async () => {
    const thread = await newThread();
    const turns = [];
    for (const text of ["one", "two", "three"])
      turns.push(await send(thread, text, { sessionKey: "Team-A" }));
    expect(turns.map(({ reply }) => [reply?.sessionId, reply?.turn])).toEqual(
      [1, 2, 3].map((turn) => [thread, turn]),
    );
    expect(await transcriptOf("Team-A", thread)).toHaveLength(3);
    expect(await transcriptOf("team-a", thread)).toEqual([]);
  });

  it("needs no key: the thread is its own", async () => {
    const thread = await newThread();
    await send(thread, "The gate code is 4711.");
    const { reply } = await send(thread, "What is the gate code?");
    expect(reply?.envelope.message).toContain("4711");
    expect(await transcriptOf(thread, thread)).toHaveLength(2);
  });

  it("answers a message that is sent again from what is stored, without a second run of it", async () => {
    const thread = await newThread();
    const first = await send(thread, "Remember the milk.", { id: "delivery-1", sessionKey: "test:again" });
    const again = await send(thread, "Remember the milk.", { id: "delivery-1", sessionKey: "test:again" });
    expect(again.reply).toEqual({ ...first.reply, repeated: true });
    expect(await transcriptOf("test:again", thread)).toHaveLength(1);
    const conversation = ({ messages }: Output) =>
      messages.filter(({ content }) => content !== first.reply?.notice);
    expect(conversation(again)).toEqual(conversation(first));
  });
});

describe.concurrent("a message that belongs to another session", () => {
  it("is answered on the new thread after /new, though the caller follows nothing", async () => {
    const sessionKey = "test:new";
    const old = await newThread();
    await send(old, "My cat is named Whiskers.", { sessionKey });
    const ended = await send(old, "/new plan dinner", { id: "new-1", sessionKey });
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
    const [turn] = await transcriptOf(sessionKey, successor);
    expect(turn?.messages[0]).toMatchObject({ role: "user", content: "plan dinner" });
    expect(await client.threads.get(successor)).toMatchObject({
      metadata: { session_key: sessionKey, owner: "local" },
    });
  });

  it("is handed from an ended thread to the latest session, which answers it", async () => {
    const sessionKey = "test:old";
    const old = await newThread();
    await send(old, "hello", { sessionKey });
    const successor = successorOf(await send(old, "/new The picnic is on Friday.", { sessionKey }));
    await answerOn(successor);
    const late = await send(old, "When is the picnic?", { id: "late-1", sessionKey });
    expect(successorOf(late)).toBe(successor);
    const answered = await answerOn(successor);
    expect(answered.reply).toMatchObject({ deliveryId: "late-1", turn: 2 });
    expect(answered.reply?.envelope.message).toContain("The picnic is on Friday.");
  });

  it("is handed from a new thread of a key in use to the session that is latest", async () => {
    const latest = await newThread();
    await send(latest, "hello", { sessionKey: "test:shared" });
    expect(successorOf(await send(await newThread(), "hello again", { sessionKey: "test:shared" }))).toBe(
      latest,
    );
    expect((await answerOn(latest)).reply).toMatchObject({ outcome: "answered", turn: 2 });
  });

  it("is started by the caller alone when the caller says that it follows hand-offs", async () => {
    const old = await newThread();
    await send(old, "hello", { sessionKey: "test:follows" });
    const ended = outputSchema.parse(
      await client.runs.wait(old, GRAPH, {
        input: { messages: [{ type: "human", content: "/new plan dinner" }] },
        context: { sessionKey: "test:follows", followsHandoff: true },
      }),
    );
    const successor = successorOf(ended);
    expect(await client.runs.list(successor)).toEqual([]);
    const { id, content } = ended.handoff?.message ?? { id: "", content: "" };
    const { reply } = await send(successor, typeof content === "string" ? content : "", {
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
    const thread = await newThread();
    await send(thread, "hello", { sessionKey: "find:first" });
    expect(await found("find:first")).toEqual({ open: [thread], sealed: [] });
    await send(await newThread(), "hello again", { sessionKey: "find:first" });
    expect(await found("find:first")).toEqual({ open: [thread], sealed: [] });
  });

  it("is found after /new with a text and without one, and takes the next message", async () => {
    const sessionKey = "find:new";
    const [first] = [await newThread()];
    await send(first, "hello", { sessionKey });
    const second = successorOf(await send(first, "/new plan dinner", { sessionKey }));
    expect(await found(sessionKey)).toEqual({ open: [second], sealed: [first] });
    await answerOn(second);
    const { reply } = await send(second, "/new", { sessionKey });
    expect(reply?.outcome).toBe("rotated");
    const { open, sealed } = await found(sessionKey);
    expect(sealed.toSorted()).toEqual([first, second].toSorted());
    expect(open).toEqual([reply?.sessionId]);
    const next = await send(open[0] ?? "", "hello", { sessionKey });
    expect(next).toMatchObject({ reply: { turn: 1, sessionId: open[0] }, handoff: null });
    expect(await found(sessionKey)).toMatchObject({ open });
  });

  it("is the thread itself where no key is given", async () => {
    const thread = await newThread();
    await send(thread, "hello");
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
    const thread = await newThread();
    const output = outputSchema.parse(
      await client.runs.wait(thread, GRAPH, { input, context: { sessionKey: "test:bad" } }),
    );
    expect(output.reply).toMatchObject({ outcome: "refused", turn: null, envelope: { ok: false } });
    expect(output.reply?.envelope.code).toMatch(/^message_(?:blank|invalid)$/u);
    expect(await client.runs.list(thread)).toMatchObject([{ status: "success" }]);
    expect(await transcriptOf("test:bad", thread)).toEqual([]);
  });
});

describe("a stream of messages, steps and custom events", () => {
  it("shows each step of a turn, and its answer as a message", async () => {
    const { steps, texts } = await stream(await newThread(), "hello", "test:stream");
    expect(steps).toEqual(["admit", "decideRollover", "assembleContext", "callModel", "commit"]);
    expect(texts.filter((text) => text.startsWith("Noted."))).toHaveLength(1);
  });

  it("shows a model's answer piece by piece, and the tool that it used", async () => {
    const sessionKey = "test:model";
    const old = await newThread();
    await send(old, "The boat is called Albatross.", { sessionKey });
    const thread = successorOf(await send(old, "/new hello", { sessionKey }));
    await answerOn(thread);
    await send(thread, "/model openai:fake", { sessionKey });
    const query = JSON.stringify({ query: "boat", rationale: "the user asks for its name" });
    models.enqueue(
      { kind: "toolCalls", calls: [{ id: "call-1", name: "session_recall", arguments: query }] },
      { kind: "text", chunks: ["Alba", "tross."] },
    );
    const { steps, texts, custom } = await stream(thread, "What did I call the boat?", sessionKey);
    expect(custom).toEqual([{ type: "tool", name: "session_recall" }]);
    expect(steps.slice(-4)).toEqual(["callModel", "runTools", "callModel", "commit"]);
    expect(texts).toEqual(expect.arrayContaining(["Alba", "tross."]));
    expect(JSON.stringify(models.requests.at(-1)?.body)).toContain("The boat is called Albatross.");
  });
});

interface Streamed {
  readonly steps: readonly string[];
  readonly texts: readonly string[];
  readonly custom: readonly unknown[];
}

async function stream(threadId: string, content: string, sessionKey: string): Promise<Streamed> {
  const streamed = { steps: [] as string[], texts: [] as string[], custom: [] as unknown[] };
  const events = client.runs.stream(threadId, GRAPH, {
    input: { messages: [{ type: "human", content }] },
    context: { sessionKey },
    streamMode: ["messages-tuple", "updates", "custom"],
  });
  for await (const { event, data } of events) {
    expect(event).not.toBe("error");
    if (event === "messages") streamed.texts.push(textSchema.parse(data[0]).content);
    if (event === "updates") streamed.steps.push(...Object.keys(data));
    if (event === "custom") streamed.custom.push(data);
  }
  return streamed;
}

describe("what a client can see", () => {
  it("names the input and the output in the schemas", async () => {
    const schemas = await client.assistants.getSchemas(GRAPH);
    expect(schemas.input_schema?.properties).toHaveProperty("messages");
    expect(schemas.input_schema?.properties).not.toHaveProperty("turn");
    expect(schemas.output_schema?.properties).toHaveProperty("reply");
  });

  it("draws every step of a turn", async () => {
    const { nodes } = await client.assistants.getGraph(GRAPH);
    const names = nodes.map((node) => node.id);
    expect(names).toEqual(
      expect.arrayContaining(["admit", "decideRollover", "rotate", "assembleContext", "callModel", "commit"]),
    );
  });

  it("reads a server log without warnings and errors", () => {
    expect(server.log()).toContain("Server running at");
    expect(
      server
        .log()
        .split("\n")
        .filter((line) => /\b(?:warn|error)\b/iu.test(line)),
    ).toEqual([]);
  });
});
