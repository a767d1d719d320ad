/** A program that is killed in the middle of an answer: the person is told at the next look, and nothing is settled by it. */
import { tool } from "@langchain/core/tools";
import { interrupt } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { echoModel, KEY, latestOf, OWNER, type Harness } from "./testing/harness.ts";
import { heldModel } from "./testing/held-model.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();
const schema = z.object({});
const note = tool(() => "noted", { name: "note", description: "notes", schema });
const ask = tool(() => String(interrupt("May I?")), { name: "ask", description: "asks", schema });

/** Asks for the tool that a message names, and repeats every other message. */
const callingModel = (): ScriptedChatModel =>
  new ScriptedChatModel((messages) => {
    const last = messages.at(-1);
    const name = last?.type === "human" ? /^use (\w+)$/u.exec(last.text)?.[1] : undefined;
    return name === undefined ? (last?.text ?? "") : { toolCalls: [{ id: "c", name, args: {} }] };
  });

const status = async (lily: Harness) => (await lily.send("/status")).envelope;
const unanswered = (lily: Harness) => lily.sessions.unanswered({ owner: OWNER, sessionKey: KEY });

async function crash(lily: Harness, node: string, text: string): Promise<void> {
  const { sessionId } = latestOf(await lily.chain());
  lily.clock.advance(12 * 60_000);
  await lily.crashBefore(node, { threadId: sessionId, deliveryId: "d2", text });
}

describe("a message whose program was killed", () => {
  it("is told by /status, however often, until it is sent again", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("hello");
    await crash(lily, "callModel", "how are you");
    const told = "The message “how are you” of 09:12 was not answered: the program ended. Send it again.";
    for (const _look of [1, 2]) {
      const { message, data } = await status(lily);
      expect(message).toContain(told);
      expect(data).toMatchObject({ unanswered: { deliveryId: "d2", state: "nothing" } });
    }
    expect(await lily.send("how are you", { deliveryId: "d2" })).toMatchObject({ turn: 2 });
    expect((await status(lily)).message).not.toContain("not answered");
    expect(await unanswered(lily)).toBeUndefined();
  });

  it("is told with what became of its tools once its model had answered", async () => {
    const lily = await start({ model: callingModel(), adjust: (deps) => ({ ...deps, tools: [note] }) });
    await lily.send("hello");
    await crash(lily, "commit", "use note");
    expect(await unanswered(lily)).toMatchObject({ text: "use note", state: "begun" });
    expect(await lily.send("use note", { deliveryId: "d2" })).toMatchObject({ turn: 2 });
    expect(await unanswered(lily)).toBeUndefined();
  });

  it("is not confused with one for which a tool waits for a person", async () => {
    const lily = await start({ model: callingModel(), adjust: (deps) => ({ ...deps, tools: [ask] }) });
    await lily.send("hello");
    expect((await lily.send("use ask")).envelope.code).toBe("turn_waiting");
    expect((await status(lily)).message).toContain("waits for a decision");
  });

  it("is not told while it is being answered, nor where all was answered", async () => {
    const held = heldModel();
    const lily = await start({ model: held.model });
    expect((await status(lily)).data).not.toHaveProperty("unanswered");
    const answer = lily.send("hello");
    await held.asked(1);
    expect(await unanswered(lily)).toBeUndefined();
    held.answer();
    await answer;
    expect((await status(lily)).data).not.toHaveProperty("unanswered");
  });

  it("is settled by the next message, as ever", async () => {
    const lily = await start({ model: echoModel() });
    const { sessionId } = await lily.send("hello");
    await crash(lily, "callModel", "how are you");
    await status(lily);
    expect(await lily.send("something else")).toMatchObject({ turn: 2 });
    const ref = { owner: OWNER, sessionKey: KEY, sessionId };
    expect(await lily.sessions.repository.readFailures(ref)).toMatchObject([{ text: "how are you" }]);
    expect(await unanswered(lily)).toBeUndefined();
  });
});
