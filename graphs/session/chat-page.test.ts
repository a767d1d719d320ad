/** What a chat page shows that knows LangGraph's threads and messages alone, as agent-chat-ui does. */
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { BaseMessage } from "@langchain/core/messages";
import type { ThreadStart } from "#src/turns/thread-registrar.ts";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { compileSessionGraph } from "./graph.ts";
import type { HarnessOptions } from "./testing/harness.ts";
import { storingAll } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();

/** A page over the graph as a server runs it: nothing is fenced, every step is stored, hand-offs are enqueued. */
async function openPage(options: HarnessOptions = {}) {
  const enqueued: ThreadStart[] = [];
  const lily = await start({
    ...storingAll(),
    ...options,
    adjust: ({ fencedStore: _none, ...deps }) => ({
      ...deps,
      threads: { start: async (thread) => void enqueued.push(thread), label: async () => undefined },
    }),
  });
  const graph = compileSessionGraph(lily.deps, lily.storage);
  const run = async (
    threadId: string,
    message: { type: string; id: string; content: unknown },
    context: unknown,
  ) =>
    graph.invoke(
      { messages: [message] as never },
      { configurable: { thread_id: threadId }, context: context as never },
    );
  return {
    lily,
    /** What stands on the page of a thread, from above. */
    async lines(threadId: string): Promise<string[]> {
      const { values } = await graph.getState({ configurable: { thread_id: threadId } });
      const { messages = [] } = values as { messages?: BaseMessage[] };
      return messages.map(
        ({ type, content }) => `${type}: ${typeof content === "string" ? content : JSON.stringify(content)}`,
      );
    },
    /** One run, and those that it enqueues. */
    async send(
      threadId: string,
      content: unknown,
      { id = randomUUID(), context = {} }: { id?: string; context?: unknown } = {},
    ) {
      const output = await run(threadId, { type: "human", id, content }, context);
      for (let next = enqueued.shift(); next !== undefined; next = enqueued.shift())
        if (next.message !== undefined)
          await run(next.sessionId, { type: "human", ...next.message }, { sessionKey: next.sessionKey });
      return output;
    },
  };
}

describe("the context of a run", () => {
  it.each([
    ["a session key that is a number", { sessionKey: 5 }, 'at "sessionKey"'],
    ["an owner that is a list", { owner: [] }, 'at "owner"'],
    ["a flag that is a word", { followsHandoff: "yes" }, 'at "followsHandoff"'],
    ["text instead of fields", "telegram:dm:42", "expected object"],
  ])(
    "with %s is refused with an envelope that says where, and nothing is stored (S-9)",
    async (_what, context, where) => {
      const page = await openPage();
      const { reply } = await page.send(randomUUID(), "hello", { context });
      expect(reply).toMatchObject({ outcome: "refused", envelope: { ok: false, code: "request_invalid" } });
      expect(reply?.envelope.message).toContain(where);
      expect(await page.lily.storage.store.listNamespaces({ limit: 10 })).toEqual([]);
    },
  );
});

const HOUR_MS = 3_600_000;
const context = { sessionKey: "page" };
const answering = () => new ScriptedChatModel((messages) => `re: ${messages.at(-1)?.text ?? ""}`);

describe("a hand-off on a page", () => {
  it("by /new keeps the message, says why and where, and the new thread keeps the reason (S-3)", async () => {
    const page = await openPage({ model: answering() });
    const old = randomUUID();
    await page.send(old, "hello", { context });
    const { handoff } = await page.send(old, "/new plan dinner", { context });
    const next = handoff?.sessionId ?? "";
    expect(await page.lines(old)).toEqual([
      "human: hello",
      "ai: re: hello",
      "human: /new plan dinner",
      `ai: This conversation ended: you asked for it with /new. [Your message is answered there](?threadId=${next})`,
    ]);
    const began = `ai: This conversation began: you asked for it with /new. [The conversation before](?threadId=${old})`;
    expect(await page.lines(next)).toEqual(["human: plan dinner", began, "ai: re: plan dinner"]);
    await page.send(next, "and dessert?", { context });
    expect((await page.lines(next)).slice(0, 2)).toEqual(["human: plan dinner", began]);
  });

  it("by time says how long it was and when the day ended, in both threads (S-3)", async () => {
    const page = await openPage({ model: answering() });
    const old = randomUUID();
    await page.send(old, "hello", { context });
    page.lily.clock.advance(13 * HOUR_MS);
    const { handoff } = await page.send(old, "good evening", { context });
    const [message, why] = (await page.lines(old)).slice(-2);
    expect(message).toBe("human: good evening");
    expect(why).toContain("13 h since the last turn (limit 12 h)");
    expect(why).toContain(`(?threadId=${handoff?.sessionId})`);
    const next = await page.lines(handoff?.sessionId ?? "");
    expect(next).toEqual([
      "human: good evening",
      expect.stringContaining("13 h since the last turn (limit 12 h). /rejoin undoes it. [The conversation"),
      "ai: re: good evening",
    ]);
  });

  it("from a thread that ended before keeps every message that is sent there (S-3)", async () => {
    const page = await openPage({ model: answering() });
    const old = randomUUID();
    await page.send(old, "hello", { context });
    const { handoff } = await page.send(old, "/new one", { context });
    await page.send(old, "two", { context });
    await page.send(old, "three", { context });
    const said = (await page.lines(old)).filter((line) => line.startsWith("human"));
    expect(said).toEqual(["human: hello", "human: /new one", "human: two", "human: three"]);
    expect((await page.lines(old)).at(-1)).toContain("This conversation ended: you asked for it with /new.");
    const next = (await page.lines(handoff?.sessionId ?? "")).filter((line) => line.startsWith("human"));
    expect(next).toEqual(["human: one", "human: two", "human: three"]);
  });

  it("from a new thread of a key in use says that it goes on elsewhere, and /new alone says where (S-3)", async () => {
    const page = await openPage({ model: answering() });
    const [first, other] = [randomUUID(), randomUUID()];
    await page.send(first, "hello", { context });
    await page.send(other, "me too", { context });
    expect(await page.lines(other)).toEqual([
      "human: me too",
      `ai: This conversation goes on in another thread. [Your message is answered there](?threadId=${first})`,
    ]);
    const { reply } = await page.send(first, "/new", { context });
    const lines = await page.lines(first);
    expect(lines.at(-2)).toBe("human: /new");
    expect(lines.at(-1)).toContain(`[Continue in the new session](?threadId=${reply?.sessionId})`);
  });
});

describe("a failed answer on a page", () => {
  const failing = (times: number) =>
    new ScriptedChatModel((messages, index) => {
      if (index < times) throw new Error("the model is away");
      return `re: ${messages.at(-1)?.text ?? ""}`;
    });

  it("leaves the message, by which the thread is named, with what went wrong, and the next one is answered (S-4)", async () => {
    const page = await openPage({ model: failing(1) });
    const thread = randomUUID();
    await page.send(thread, "what is new?", { context });
    const [message, failure = "", ...others] = await page.lines(thread);
    expect([message, others]).toEqual(["human: what is new?", []]);
    expect(failure).toContain("the model is away");
    expect(failure).not.toContain("..");
    await page.send(thread, "and now?", { context });
    expect(await page.lines(thread)).toEqual([message, failure, "human: and now?", "ai: re: and now?"]);
  });

  it("is replaced by the answer when the same message is sent again (S-4)", async () => {
    const page = await openPage({ model: failing(2) });
    const thread = randomUUID();
    await page.send(thread, "hello", { context });
    const again = { id: "d1", context };
    await page.send(thread, "what is new?", again);
    expect((await page.lines(thread)).filter((line) => line === "human: what is new?")).toHaveLength(1);
    const { reply } = await page.send(thread, "what is new?", again);
    expect(reply).toMatchObject({ outcome: "answered", deliveryId: "d1", turn: 1 });
    const lines = await page.lines(thread);
    expect(lines[0]).toBe("human: hello");
    expect(lines.slice(2)).toEqual(["human: what is new?", "ai: re: what is new?"]);
  });

  it("is given to no model later, and is in no transcript (S-4)", async () => {
    const model = failing(1);
    const page = await openPage({ model });
    const thread = randomUUID();
    await page.send(thread, "a secret of the first try", { context });
    await page.send(thread, "hello", { context });
    expect(JSON.stringify(model.calls.at(-1)?.messages)).not.toContain("first try");
    expect(await page.lily.turns(thread, "page")).toHaveLength(1);
  });
});

describe("a long conversation on a page", () => {
  it("keeps its first message, by which the thread is named, and says that others are not shown (S-6)", async () => {
    const page = await openPage({
      model: new ScriptedChatModel(() => "yes"),
      config: { limits: { windowCharacters: 4_000 } },
    });
    const thread = randomUUID();
    for (let turn = 1; turn <= 8; turn += 1)
      await page.send(thread, `message ${turn} ${"x".repeat(900)}`, { context });
    const lines = (await page.lines(thread)).map((line) => line.slice(0, 42));
    expect(lines[0]).toContain("human: message 1");
    expect(lines[1]).toBe("ai: Earlier messages of this conversation ");
    expect(lines.filter((line) => line.startsWith("human")).map((line) => line.slice(0, 16))).toEqual(
      [1, 5, 6, 7, 8].map((turn) => `human: message ${turn}`),
    );
    expect(lines.filter((line) => line.startsWith("ai: Earlier"))).toHaveLength(1);
  });

  it("keeps the reason of its begin too, and drops failed tries with the turns around them (S-6)", async () => {
    const model = new ScriptedChatModel((messages) => {
      if (messages.at(-1)?.text.startsWith("fail")) throw new Error("away");
      return "yes";
    });
    const page = await openPage({ model, config: { limits: { windowCharacters: 4_000 } } });
    const old = randomUUID();
    await page.send(old, "hello", { context });
    const { handoff } = await page.send(old, "/new begin", { context });
    const thread = handoff?.sessionId ?? "";
    for (let turn = 1; turn <= 6; turn += 1) {
      await page.send(thread, `fail ${turn} ${"x".repeat(400)}`, { context });
      await page.send(thread, `message ${turn} ${"x".repeat(900)}`, { context });
    }
    const lines = (await page.lines(thread)).map((line) => line.slice(0, 30));
    expect(lines.slice(0, 3)).toEqual([
      "human: begin",
      "ai: This conversation began: y",
      "ai: Earlier messages of this c",
    ]);
    expect(lines.length).toBeLessThan(16);
    expect(lines.some((line) => line.startsWith("human: fail 6"))).toBe(true);
    expect(lines.some((line) => line.startsWith("human: fail 1"))).toBe(false);
  });
});

describe("a picture on a page", () => {
  const bytesOf = (length: number) => Buffer.alloc(length, 7).toString("base64");
  const picture = (length = 300) => ({
    type: "image",
    mimeType: "image/png",
    data: bytesOf(length),
    metadata: { name: "cat.png" },
  });
  const text = (value: string) => ({ type: "text", text: value });
  const contents = async (page: Awaited<ReturnType<typeof openPage>>, thread: string): Promise<unknown[]> =>
    (await page.lines(thread))
      .filter((line) => line.startsWith("human: ["))
      .map((line) => JSON.parse(line.slice("human: ".length)) as unknown);

  it("stands in the state with its bytes, as the page sent it, also after a hand-off (S-5)", async () => {
    const model = new ScriptedChatModel(() => "seen");
    const page = await openPage({ model });
    const old = randomUUID();
    await page.send(old, [text("look"), picture()], { context });
    expect(await contents(page, old)).toMatchObject([[text("look"), picture()]]);
    expect(JSON.stringify(model.calls.at(-1)?.messages)).toContain(bytesOf(300));
    const { handoff } = await page.send(old, [text("/new again"), picture()], { context });
    expect(await contents(page, handoff?.sessionId ?? "")).toMatchObject([[text("again"), picture()]]);
    expect(await contents(page, old)).toMatchObject([
      [text("look"), picture()],
      [text("/new again"), picture()],
    ]);
    const [turn] = await page.lily.turns(old, "page");
    expect(turn?.messages[0]).toMatchObject({
      content: "look",
      attachments: [{ kind: "image", name: "cat.png" }],
    });
  });

  it("that is too big, a recording, and an address are told in words; a PDF is there under its name (S-5)", async () => {
    const model = new ScriptedChatModel(() => "seen");
    const page = await openPage({ model });
    const thread = randomUUID();
    await page.send(thread, [text("big"), picture(1_200_000)], { context });
    await page.send(thread, [{ type: "audio", mimeType: "audio/wav", data: bytesOf(30) }], { context });
    await page.send(thread, [{ type: "image_url", image_url: { url: "https://example.org/cat.png" } }], {
      context,
    });
    const pdf = {
      type: "file",
      mimeType: "application/pdf",
      data: bytesOf(90),
      metadata: { filename: "plan.pdf" },
    };
    await page.send(thread, [text("read"), pdf], { context });
    expect(await contents(page, thread)).toMatchObject([
      [text("big"), text("[picture: cat.png, image/png, 1.2 MB]")],
      [text("[recording: audio/wav, 30 bytes]")],
      [text("[picture: https://example.org/cat.png]")],
      [text("read"), pdf],
    ]);
    expect(JSON.stringify(model.calls[0]?.messages)).toContain(bytesOf(1_200_000));
  });

  it("is told in words where the state was made anew from the transcript, and is never in what is in flight (S-5)", async () => {
    const seen: unknown[] = [];
    const page = await openPage({
      model: new ScriptedChatModel(async () => {
        seen.push(await page.lily.storage.store.search(["in-flight"]));
        return "seen";
      }),
    });
    const thread = randomUUID();
    await page.send(thread, [text("look"), picture()], { context });
    expect(JSON.stringify(seen)).toContain("[picture: cat.png");
    expect(JSON.stringify(seen)).not.toContain(bytesOf(300));
    await page.lily.storage.checkpointer.deleteThread(thread);
    await page.send(thread, "and?", { context });
    expect((await page.lines(thread))[0]).toBe("human: look\n[picture: cat.png, image/png, 300 bytes]");
  });
});
