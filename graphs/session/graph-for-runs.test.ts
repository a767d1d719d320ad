/** What the graph for runs must share with the one that others drive. */
import { tool } from "@langchain/core/tools";
import { getStore } from "@langchain/langgraph";
import { expect, it } from "vitest";
import { z } from "zod";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { ScriptedChatModel } from "#src/models/scripted-chat-model.ts";
import { lockName } from "#src/turns/lock-name.ts";
import { compileForRuns } from "./graph-for-runs.ts";
import { createSessionRunner } from "./runner.ts";
import { KEY, OWNER, type Harness } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";
import { readThread } from "./thread-state.ts";

const start = harnessStarter();
const FIRST = "0198f000-0000-7000-8000-000000000001";

const lookUp = tool(async () => "17 degrees", { name: "look_up", description: "", schema: z.object({}) });

/** What the model says to the last message. */
const answers = new Map<unknown, string | object>([
  ["what is the weather?", { toolCalls: [{ id: "c1", name: "look_up", args: "{}" }] }],
  ["17 degrees", "It is mild."],
  ["what do you not know?", { error: new Error("the model is lost") }],
]);

/** A new Lily whose key has one turn; the same each time. */
async function begun(): Promise<Harness> {
  const model = new ScriptedChatModel((messages) => answers.get(messages.at(-1)?.content) ?? "hello");
  const lily = await start({ model, adjust: (deps) => ({ ...deps, tools: [lookUp] }) });
  await ask(lily, "hi", { threadId: FIRST, deliveryId: "first" });
  return lily;
}

/** By the graph that takes every step by LangGraph's own rules. */
async function ask(
  lily: Harness,
  text: string,
  { threadId, deliveryId }: { readonly threadId: string; readonly deliveryId: string },
): Promise<void> {
  await lily.sessions.graph.invoke(
    { messages: [{ role: "user", content: text, id: deliveryId }] },
    {
      configurable: { thread_id: threadId },
      context: { owner: OWNER, sessionKey: KEY, followsHandoff: true, fence: undefined },
    },
  );
}

/** By the graph for runs. */
async function run({ deps, storage }: Harness, text: string, deliveryId: string): Promise<void> {
  const runner = createSessionRunner(() => compileForRuns(deps, storage), storage.checkpointer);
  const ref = { owner: OWNER, sessionKey: KEY };
  const fence = await storage.locks.acquire(lockName(ref));
  await runner.run({ ...ref, threadId: FIRST, message: { id: deliveryId, content: text }, fence });
  await fence.release();
}

/** What is stored of the thread, with each id and hash as the how-manieth it is. */
async function valuesOf(lily: Harness): Promise<unknown> {
  const stored = JSON.stringify(await readThread(lily.storage.checkpointer, FIRST));
  const ids = [...new Set(stored.match(ID))];
  return JSON.parse(stored.replace(ID, (id) => `id ${ids.indexOf(id)}`));
}

const ID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<=")[\w-]{43}(?=")/gu;

it.each([
  ["an answer", "how are you?"],
  ["a tool and an answer", "what is the weather?"],
  ["a command", "/title A talk"],
  ["a command that reads", "/status"],
  ["a refusal", "/nothing"],
  ["the end of a session", "/new"],
  ["a session that ends with a message", "/new and now?"],
  ["a failure", "what do you not know?"],
])("leaves of %s what the other graph leaves", async (_what, text) => {
  const [one, other] = [await begun(), await begun()];
  await run(one, text, "second");
  await ask(other, text, { threadId: FIRST, deliveryId: "second" });
  expect(await valuesOf(one)).toEqual(await valuesOf(other));
  const [sessions, others] = [(await one.chain()).sessions, (await other.chain()).sessions];
  expect(sessions.map(({ sealed }) => sealed?.turns)).toEqual(others.map(({ sealed }) => sealed?.turns));
});

it("gives a tool the store, as LangGraph does", async () => {
  const noted = tool(
    async () => {
      const store = getStore();
      await store?.put(["notes"], "n", { text: "kept" });
      return JSON.stringify((await store?.get(["notes"], "n"))?.value);
    },
    { name: "note", description: "", schema: z.object({}) },
  );
  const model = new ScriptedChatModel([{ toolCalls: [{ id: "c1", name: "note", args: "{}" }] }, "Noted."]);
  const lily = await start({ model, adjust: (deps: SessionDeps) => ({ ...deps, tools: [noted] }) });
  const { sessionId } = await lily.send("note it");
  const [turn] = await lily.turns(sessionId);
  expect(turn?.messages.find(({ role }) => role === "tool")?.content).toBe('{"text":"kept"}');
});
