/** What stands behind the last committed turn and is not the message of the run: S-8, and runs that ended before they began. */
import { AIMessage, HumanMessage, ToolMessage, type BaseMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { verifyOwner } from "#src/sessions/verify.ts";
import { echoModel, inputOf, KEY, OWNER } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();

async function opened() {
  const model = echoModel();
  const lily = await start({ model });
  const { sessionId } = await lily.send("hello", { deliveryId: "u1" });
  const config = { configurable: { thread_id: sessionId } };
  const write = (...messages: BaseMessage[]) => lily.sessions.graph.updateState(config, { messages });
  const shown = async (): Promise<BaseMessage[]> =>
    ((await lily.sessions.graph.getState(config)).values as { messages: BaseMessage[] }).messages;
  return { lily, model, sessionId, write, shown };
}

it.each<[string, BaseMessage[], string]>([
  ["an answer", [new AIMessage({ id: "x", content: "by hand" })], "“by hand” was written here by hand"],
  [
    "a result of a tool",
    [new ToolMessage({ id: "x", content: "by hand", tool_call_id: "c" })],
    "“by hand” was written here by hand",
  ],
  ["a user message", [new HumanMessage({ id: "x", content: "and this" })], "“and this” was not answered"],
  [
    "two user messages and an answer",
    [
      new HumanMessage({ id: "x", content: "and this" }),
      new AIMessage({ id: "y", content: "no" }),
      new HumanMessage({ id: "z", content: "and that" }),
    ],
    "“and that” was not answered",
  ],
])(
  "S-8 answers the user's message where somebody added %s by hand, and tells of it",
  async (_what, added, told) => {
    const { lily, model, write, shown } = await opened();
    await write(...added);
    const reply = await lily.send("how are you");
    expect(reply).toMatchObject({ outcome: "answered", turn: 2 });
    expect(reply.announcement).toContain(told);
    expect(inputOf(model)).toEqual(["human: hello", "ai: hello", "human: how are you"]);
    const texts = (await shown()).map(({ text }) => text).filter((text) => text !== reply.announcement);
    expect(texts).toEqual(["hello", "hello", "how are you", "how are you"]);
    expect((await lily.send("and now")).announcement).toBeUndefined();
  },
);

it("S-8 tells of an answer that somebody changed, and keeps it as it was committed", async () => {
  const { lily, model, write, shown } = await opened();
  const [, answer] = await shown();
  await write(new AIMessage({ id: answer?.id ?? "", content: "something else" }));
  const reply = await lily.send("how are you");
  expect(reply.announcement).toContain("“something else” was written here by hand");
  expect(inputOf(model)).toEqual(["human: hello", "ai: hello", "human: how are you"]);
});

it("makes the copy of a session's fields anew that somebody changed", async () => {
  const { lily, sessionId } = await opened();
  await lily.send("how are you");
  const config = { configurable: { thread_id: sessionId } };
  const { values } = await lily.sessions.graph.getState(config);
  const { session } = values as { session: object };
  const changed = { ...session, title: "Not mine", turns: 1 };
  await lily.sessions.graph.updateState(config, { session: changed });
  expect(await lily.send("and now")).toMatchObject({ outcome: "answered", turn: 3 });
  expect((await lily.send("/status")).envelope.message).not.toContain("Not mine");
  expect(await verifyOwner(lily.sessions.repository, OWNER)).toMatchObject({ ok: true });
});

it("S-8 keeps a message that was not answered as failed, and answers it when it comes again", async () => {
  const { lily, sessionId, write } = await opened();
  await write(new HumanMessage({ id: "x", content: "and this" }));
  await lily.send("how are you");
  const ref = { owner: OWNER, sessionKey: "test:main", sessionId };
  expect(await lily.sessions.repository.readFailures(ref)).toMatchObject([
    { deliveryId: "x", text: "and this" },
  ]);
  expect(await lily.send("and this", { deliveryId: "x" })).toMatchObject({ turn: 3, repeated: false });
});

it("S-8 still refuses several user messages that are sent at once, and loses nothing that stood before them", async () => {
  const { lily, sessionId, write } = await opened();
  await write(new HumanMessage({ id: "x", content: "and this" }));
  const messages = ["one", "two"].map((content) => ({ role: "user" as const, content }));
  const refused = await lily.sessions.graph.invoke({ messages }, { configurable: { thread_id: sessionId } });
  expect(refused.reply).toMatchObject({
    envelope: { code: "message_multiple", message: "2 messages were sent at once" },
  });
  expect((await lily.send("how are you")).announcement).toContain("“and this” was not answered");
});

it("S-8 takes an answer that a client sent before its message for no part of the turn that a crash left", async () => {
  const model = echoModel();
  const lily = await start({ model });
  const threadId = "0b1e7a3c-6a3f-4c1a-9d55-0a0a0a0a0a0a";
  await lily.crashBefore("assembleContext", { threadId, deliveryId: "d1", text: "what do you owe me" });
  const { reply } = await lily.sessions.graph.invoke(
    { messages: [new AIMessage("a pot of gold"), new HumanMessage("hello")] },
    { configurable: { thread_id: threadId }, context: { owner: OWNER, sessionKey: KEY } },
  );
  expect(reply?.announcement).toContain("“a pot of gold” was written here by hand");
  expect(inputOf(model)).toEqual(["human: hello"]);
  expect((await lily.turns(threadId)).map(({ deliveryId }) => deliveryId)).toEqual([reply?.deliveryId]);
});
