/** A checkpoint is LangGraph's, and may be thrown away: between any two turns nothing that a session has goes with it. */
import { tool } from "@langchain/core/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { verifyOwner } from "#src/sessions/verify.ts";
import { OWNER, type Harness } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();

const TALK = [
  "my flight is BA117",
  "/title Trip",
  "use the tool",
  "/remember I like window seats",
  "what is my flight?",
  "/recall flight",
  "/new and on",
  "hello again",
  "/model scripted:test",
  "/rejoin",
  "still there?",
  "/status",
  "/history",
];

async function open(hasModel = true): Promise<{ lily: Harness; model: ScriptedChatModel }> {
  const note = tool(() => "noted", { name: "note", description: "notes", schema: z.object({}) });
  const model = new ScriptedChatModel((messages) => {
    const last = messages.at(-1);
    return last?.type === "human" && last.text === "use the tool"
      ? { toolCalls: [{ id: "c1", name: "note", args: {} }] }
      : `re: ${last?.text ?? ""}`;
  });
  const lily = await start({
    ...(hasModel ? { model } : { models: { "scripted:test": model } }),
    adjust: (deps) => ({ ...deps, tools: [note] }),
  });
  return { lily, model };
}

async function talk(
  { lily, model }: Awaited<ReturnType<typeof open>>,
  throwsAway: (turn: number) => boolean,
) {
  const replies = [];
  for (const [turn, text] of TALK.entries()) {
    replies.push(await lily.send(text, { deliveryId: `d${turn}` }));
    if (!throwsAway(turn)) continue;
    for (const { sessionId } of (await lily.chain()).sessions)
      await lily.storage.checkpointer.deleteThread(sessionId);
  }
  const items = [];
  for (const root of ["sessions", "history", "deliveries", "memory", "in-flight", "explanations"])
    items.push(...(await lily.storage.store.search([root], { limit: 1_000 })));
  const given = model.calls.map(({ messages }) => messages.map(({ type, content }) => [type, content]));
  expect(await verifyOwner(lily.sessions.repository, OWNER)).toMatchObject({ ok: true });
  // Salts are random, and ids are made anew; what they stand for is compared by what is said.
  const plain = JSON.stringify({ replies, given, items });
  return { replies, given, plain, count: items.length };
}

describe("checkpoints that are deleted between two turns", () => {
  it.each([
    ["after every turn", true, () => true],
    ["after every other turn", true, (turn: number) => turn % 2 === 1],
    ["after every turn of a conversation without a model", false, () => true],
  ])("take nothing along that anybody can see: %s", async (_when, hasModel, throwsAway) => {
    const kept = await talk(await open(hasModel), () => false);
    const thrown = await talk(await open(hasModel), throwsAway);
    expect(thrown.replies).toEqual(kept.replies);
    expect(thrown.given).toEqual(kept.given);
    expect(thrown.plain).toBe(kept.plain);
  });
});
