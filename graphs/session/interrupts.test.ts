import { tool } from "@langchain/core/tools";
import { Command, interrupt } from "@langchain/langgraph";
import { afterEach, describe, expect, it } from "vitest";
import { z } from "zod";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { createHarness, inputOf, KEY, latestOf, OWNER, type Harness } from "./testing/harness.ts";
import type { SessionStateValues } from "./state.ts";

let lily: Harness | undefined;
afterEach(async () => lily?.close());

/** A model that calls `count`, then `approve`, and then says what it was told; and how often each tool began. */
async function open() {
  const ran: string[] = [];
  const schema = z.object({});
  const count = tool(() => `ran ${ran.push("count")}`, { name: "count", description: "counts", schema });
  const approve = tool(
    () => {
      ran.push("asked");
      const answer: unknown = interrupt("May I?");
      ran.push("approve");
      return `the person said ${String(answer)}`;
    },
    { name: "approve", description: "asks a person", schema },
  );
  const model = new ScriptedChatModel((messages) => {
    const last = messages.at(-1);
    if (last?.type !== "human") return { text: `told: ${last?.text ?? ""}` };
    if (last.text !== "go") return { text: `re: ${last.text}` };
    return {
      toolCalls: [
        { id: "a", name: "count", args: "{}" },
        { id: "b", name: "approve", args: "{}" },
      ],
    };
  });
  lily = await createHarness({ model, adjust: (deps) => ({ ...deps, tools: [count, approve] }) });
  await lily.send("hello");
  const threadId = latestOf(await lily.chain()).sessionId;
  return { lily, model, ran, threadId };
}

async function run(lily: Harness, threadId: string, input: object) {
  const result: unknown = await lily.sessions.graph.invoke(input, {
    configurable: { thread_id: threadId },
    context: { owner: OWNER, sessionKey: KEY, followsHandoff: true, fence: undefined },
  });
  return result as SessionStateValues & { readonly __interrupt__?: readonly { readonly value: unknown }[] };
}

const GO = { messages: [{ role: "user", content: "go", id: "go" }] };

describe("a tool that asks a person", () => {
  it("lets the run wait, and goes on with the answer; what ran before it is not run again", async () => {
    const { lily, ran, threadId } = await open();
    const waiting = await run(lily, threadId, GO);
    expect(waiting.__interrupt__?.map(({ value }) => value)).toEqual(["May I?"]);
    await lily.restart();
    const done = await run(lily, threadId, new Command({ resume: "yes" }));
    expect(done.reply?.envelope.message).toBe("told: the person said yes");
    expect(ran.filter((name) => name === "count")).toHaveLength(1);
    expect(ran.filter((name) => name === "approve")).toHaveLength(1);
    expect((await lily.turns(threadId)).map(({ turn, status }) => [turn, status])).toEqual([
      [1, "completed"],
      [2, "completed"],
    ]);
  });

  it("is not approved when another message comes: the call is closed, and the history stays valid", async () => {
    const { lily, model, ran, threadId } = await open();
    await run(lily, threadId, GO);
    const reply = await lily.send("never mind");
    expect(reply).toMatchObject({ outcome: "answered", turn: 3 });
    expect(ran).not.toContain("approve");
    expect(inputOf(model).filter((line) => line.startsWith("tool:"))).toEqual([
      "tool: ran 1",
      "tool: interrupted: this call was not finished, or not approved; it may or may not have taken effect",
    ]);
    const late = await run(lily, threadId, new Command({ resume: "yes" }));
    expect(ran).not.toContain("approve");
    expect(late.__interrupt__).toBeUndefined();
    expect(await lily.turns(threadId)).toHaveLength(3);
  });

  it("is not approved when the conversation is ended", async () => {
    const { lily, ran, threadId } = await open();
    await run(lily, threadId, GO);
    expect(await lily.send("/new")).toMatchObject({ outcome: "rotated" });
    await run(lily, threadId, new Command({ resume: "yes" })).catch(() => undefined);
    expect(ran).not.toContain("approve");
    expect((await lily.chain()).sessions[0]?.sealed?.turns).toBe(2);
  });

  it("is told to a caller that cannot answer, and the message may be followed by another", async () => {
    const { lily } = await open();
    const reply = await lily.send("go");
    expect(reply).toMatchObject({ outcome: "failed", envelope: { code: "turn_waiting" } });
    expect(await lily.send("never mind")).toMatchObject({ outcome: "answered" });
  });
});
