/** What of memory a prompt holds whatever is said: who the user is, who Lily is to them and how it works. */
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import type { HarnessOptions } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();

/** A Lily whose model says "Well." to all, and all that it was given with its last call. */
async function lilyWith(options: HarnessOptions = {}) {
  const model = new ScriptedChatModel(Array.from({ length: 60 }, () => "Well."));
  const lily = await start({ model, ...options });
  return {
    lily,
    given: () =>
      (model.calls.at(-1)?.messages ?? []).map(({ content }) => JSON.stringify(content)).join("\n"),
  };
}

describe("C-7: the person is always there", () => {
  it("is in the prompts of a new session, whatever is asked and in whatever language", async () => {
    const facts = ["I am vegetarian", "Always answer in French", "Ich bin gegen Nüsse allergisch"];
    const { lily, given } = await lilyWith();
    await lily.send(`/remember ${facts[0]}`);
    await lily.send(`/remember ${facts[1]}`);
    await lily.send(`/remember --domain user_profile ${facts[2]}`);
    await lily.send("/new");
    for (const said of ["Recommend me a dinner recipe", "What is the capital of Peru?", "今晚吃什么？"]) {
      await lily.send(said);
      const why = (await lily.send("/why")).envelope?.text;
      for (const fact of facts) {
        expect(given()).toContain(fact);
        expect(why).toContain(fact);
      }
      expect(why).toContain("is always given");
    }
  });

  it("is there within a context of 1,000 tokens, and takes no more than its share", async () => {
    const { lily, given } = await lilyWith({ config: { limits: { contextTokens: 1_000 } } });
    for (let n = 1; n <= 20; n += 1) {
      await lily.send(
        `/remember --domain user_profile My cousin number ${n} lives in town number ${n} by the sea`,
      );
      lily.clock.advance(1_000);
    }
    await lily.send("/remember I am vegetarian");
    await lily.send("Recommend me a dinner recipe");
    expect(given()).toContain("I am vegetarian");
    const { latest } = await lily.chain();
    const [call] = (await lily.turns(latest)).at(-1)?.explanation.calls ?? [];
    expect(call?.tokens["profile"]).toBeGreaterThan(0);
    expect(call?.tokens["profile"]).toBeLessThanOrEqual(150);
  });

  it("finds by its words what the share has no room for", async () => {
    const { lily, given } = await lilyWith({ config: { limits: { contextTokens: 2_000 } } });
    await lily.send("/remember --domain user_profile My bike is a red Brompton");
    for (let n = 1; n <= 25; n += 1) {
      lily.clock.advance(1_000);
      await lily.send(
        `/remember --domain user_profile My cousin number ${n} lives in town number ${n} by the sea`,
      );
    }
    await lily.send("What colour is my bike?");
    expect(given()).toContain("red Brompton");
    expect((await lily.send("/why")).envelope?.text).toContain("fits what you said");
  });

  it("never gives what was superseded", async () => {
    const { lily, given } = await lilyWith();
    await lily.send("/remember --domain user_profile --about home I live in Ostend");
    await lily.send("/remember --domain user_profile --about home I live in Ghent");
    await lily.send("Hello");
    expect(given()).toContain("I live in Ghent");
    expect(given()).not.toContain("I live in Ostend");
  });
});

describe("M-6: persona and rules of a session that has begun", () => {
  const OTHER = { sessionKey: "test:other" };

  it.each([
    ["/remember You are Gandalf the wizard", "You are Gandalf"],
    ["/remember Always answer in rhymes", "answer in rhymes"],
  ])("are not changed by another session's %s, and are by its own at once", async (command, fact) => {
    const { lily, given } = await lilyWith();
    await lily.send("Hello", OTHER);
    lily.clock.advance(1_000);
    await lily.send(command);
    await lily.send("Who are you?");
    expect(given()).toContain(fact);
    await lily.send("Who are you?", OTHER);
    expect(given()).not.toContain(fact);
    lily.clock.advance(1_000);
    await lily.send("/new", OTHER);
    await lily.send("Who are you?", OTHER);
    expect(given()).toContain(fact);
  });

  it("keep what another session replaced, and lose what is forgotten", async () => {
    const { lily, given } = await lilyWith();
    const { envelope } = await lily.send("/remember --domain persona_core --about name You are called Ada");
    const { id } = z.object({ id: z.string() }).parse(envelope?.data?.["record"]);
    await lily.send("Hello", OTHER);
    lily.clock.advance(1_000);
    await lily.send("/remember --domain persona_core --about name You are called Grace");
    await lily.send("Who are you?", OTHER);
    expect(given()).toContain("called Ada");
    expect(given()).not.toContain("called Grace");
    await lily.send(`/forget ${id}`);
    await lily.send("Who are you?", OTHER);
    expect(given()).not.toContain("called Ada");
  });

  it("are searched by the model as they stood, too", async () => {
    const found: string[] = [];
    const model = new ScriptedChatModel((messages) => {
      const last = messages.at(-1);
      if (last?.type === "tool") {
        found.push(last.text);
        return "Well.";
      }
      return last?.text === "search"
        ? { toolCalls: [{ id: "s", name: "search_memory", args: { query: "answer in rhymes, please" } }] }
        : "Hello";
    });
    const lily = await start({ model, config: { memory: { tool: true } } });
    await lily.send("Hello", OTHER);
    lily.clock.advance(1_000);
    await lily.send("/remember Always answer in rhymes");
    await lily.send("search", OTHER);
    await lily.send("search");
    expect(found.map((text) => text.includes("answer in rhymes"))).toEqual([false, true]);
  });

  it("do not hold back what is known of the user, which every session reads in every turn", async () => {
    const { lily, given } = await lilyWith();
    await lily.send("Hello", OTHER);
    lily.clock.advance(1_000);
    await lily.send("/remember I am vegetarian");
    await lily.send("Dinner?", OTHER);
    expect(given()).toContain("I am vegetarian");
  });
});

describe("C-6: dates in a prompt", () => {
  it.each([
    ["Europe/Paris", "2026-06-30T22:30:00.000Z", "2026-07-01"],
    ["America/New_York", "2026-07-01T02:00:00.000Z", "2026-06-30"],
    ["Pacific/Kiritimati", "2026-06-30T10:30:00.000Z", "2026-07-01"],
  ])("are in the key's zone: %s", async (timeZone, now, day) => {
    const { lily, given } = await lilyWith({ startMs: Date.parse(now), config: { timeZone } });
    await lily.send("/remember I am vegetarian");
    await lily.send("Hello");
    expect(given()).toContain(`It is ${day} `);
    expect(given()).toMatch(new RegExp(`, ${day}\\] I am vegetarian`, "u"));
  });
});
