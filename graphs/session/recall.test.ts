/** What `/recall` and the model's tool find: all that was said and is not before the model, cited by where it stands. */
import { describe, expect, it } from "vitest";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import type { Harness } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();

/** A context that holds the last few of these messages alone. */
const SMALL = { limits: { contextTokens: 700, memoryTokens: 0, evidenceTokens: 0 } };

async function talkOn(lily: Harness, count = 14): Promise<void> {
  for (let at = 1; at <= count; at += 1)
    await lily.send(`Note ${at}: ${"the weather was fair and nothing else happened. ".repeat(6)}`);
}

describe("C-1: what no longer fits the context", () => {
  it.each([
    ["a code word", "The vault code word is ZEBRA-7.", "/recall vault", "ZEBRA-7"],
    ["what is in another script", "我的猫叫米粒。", "/recall 猫", "米粒"],
    [
      "a line of a long text",
      `${"Nothing. ".repeat(99)}The lock is green.${" Nothing.".repeat(99)}`,
      "/recall lock",
      "lock is green",
    ],
  ])("is found in the own session: %s", async (_what, said, command, found) => {
    const lily = await start({ config: SMALL });
    await lily.send(said);
    await talkOn(lily);
    const text = (await lily.send(command)).envelope?.message;
    expect(text).toContain(found);
    expect(text).toContain("session 1, turn 1, 2026-03-01 09:00");
  });

  it("is found by the model's tool alike, cited, and kept with the reason in the turn", async () => {
    const recall = {
      id: "c1",
      name: "session_recall",
      args: '{"query":"vault code","rationale":"they ask for it"}',
    };
    const model = new ScriptedChatModel([
      ...Array.from({ length: 15 }, () => "Noted."),
      { toolCalls: [recall] },
      "ZEBRA-7",
    ]);
    const lily = await start({ model, config: SMALL });
    await lily.send("The vault code word is ZEBRA-7.");
    await talkOn(lily);
    await lily.send("And the code of the vault?");
    const result = model.calls.at(-1)?.messages.find(({ type }) => type === "tool");
    expect(result?.content).toContain("session 1, turn 1,");
    expect(result?.content).toContain("ZEBRA-7");
    const { latest } = await lily.chain();
    const turn = (await lily.turns(latest)).at(-1);
    expect(turn?.explanation.recalled?.[0]).toMatchObject({
      sessionId: latest,
      turn: 1,
      rationale: "they ask for it",
    });
  });

  it("is found in what a session goes on with, once it was resumed", async () => {
    const lily = await start({ config: SMALL });
    await lily.send("The vault code word is ZEBRA-7.");
    await talkOn(lily);
    await lily.send("/new");
    await lily.send("/resume 1");
    await talkOn(lily, 3);
    expect((await lily.send("/recall vault")).envelope?.message).toContain("ZEBRA-7");
  });

  it("is not brought in a second time where the context holds it, and the place is told", async () => {
    const lily = await start();
    await lily.send("The vault code word is ZEBRA-7.");
    const { envelope } = await lily.send("/recall vault");
    expect(envelope).toMatchObject({
      message: expect.stringContaining("session 1, turn 1"),
      data: { found: [] },
    });
  });
});
