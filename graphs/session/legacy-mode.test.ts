import { afterEach, describe, expect, it } from "vitest";
import { verifyOwner } from "#src/sessions/verify.ts";
import type { SessionStateValues } from "./state.ts";
import { createHarness, echoModel, inputOf, latestOf, OWNER, type Harness } from "./testing/harness.ts";

const DAY = 86_400_000;

let lily: Harness | undefined;
afterEach(async () => lily?.close());

/** A Lily whose mode a restart changes. */
async function open(first: "legacy" | "segmented") {
  const model = echoModel();
  const setting = { mode: first };
  lily = await createHarness({
    model,
    adjust: (deps) => ({ ...deps, lifecycleMode: setting.mode }),
  });
  const opened = lily;
  return {
    lily,
    model,
    async switchTo(mode: "legacy" | "segmented") {
      setting.mode = mode;
      await opened.restart();
    },
  };
}

const sessionsOf = async (lily: Harness): Promise<number> => (await lily.chain()).sessions.length;

describe("legacy mode", () => {
  it("clears the context in place by /new: no rotation, the transcript stays (F1)", async () => {
    const { lily, model } = await open("legacy");
    await lily.send("one");
    expect(await lily.send("/new")).toMatchObject({
      outcome: "command",
      envelope: { code: "context_cleared" },
    });
    await lily.send("two");
    expect(inputOf(model)).toEqual(["human: two"]);
    expect(await sessionsOf(lily)).toBe(1);
    const turns = await lily.turns(latestOf(await lily.chain()).sessionId);
    expect(turns.map(({ kind }) => kind)).toEqual(["chat", "command", "chat"]);
  });

  it("answers the text behind /new without what was before", async () => {
    const { lily, model } = await open("legacy");
    await lily.send("one");
    const first = await lily.send("/new two", { deliveryId: "d" });
    expect(first).toMatchObject({ outcome: "answered", turn: 2 });
    expect(inputOf(model)).toEqual(["human: two"]);
    expect(await lily.send("/new two", { deliveryId: "d" })).toEqual({ ...first, repeated: true });
    await lily.send("three");
    expect(inputOf(model)).toEqual(["human: two", "ai: two", "human: three"]);
  });

  it("rotates by nothing: not by time, and not by /resume or /rejoin, which say so", async () => {
    const { lily } = await open("legacy");
    await lily.send("one");
    lily.clock.advance(30 * DAY);
    await lily.send("two");
    for (const command of ["/resume", "/rejoin", "/resume 1"])
      expect(await lily.send(command)).toMatchObject({
        outcome: "refused",
        envelope: { code: "legacy_mode" },
      });
    expect(await sessionsOf(lily)).toBe(1);
  });

  it("keeps the cleared context cleared after a restart", async () => {
    const { lily, model } = await open("legacy");
    await lily.send("one");
    await lily.send("/new");
    await lily.restart();
    await lily.send("two");
    expect(inputOf(model)).toEqual(["human: two"]);
  });

  it("shows clients an empty conversation after /new", async () => {
    const { lily } = await open("legacy");
    await lily.send("one");
    await lily.send("/new two");
    const { latest } = await lily.chain();
    const state = await lily.sessions.graph.getState({ configurable: { thread_id: latest } });
    expect((state.values as SessionStateValues).messages.map((message) => message.text)).toEqual([
      "/new two",
      "two",
    ]);
  });
});

describe("a switch of the mode", () => {
  it("keeps the chain in both directions", async () => {
    const { lily, switchTo } = await open("segmented");
    await lily.send("one");
    await lily.send("/new two");
    await switchTo("legacy");
    await lily.send("/new three");
    expect(await sessionsOf(lily)).toBe(2);
    await switchTo("segmented");
    await lily.send("/new four");
    expect(await sessionsOf(lily)).toBe(3);
    expect(await lily.send("/resume 2")).toMatchObject({ outcome: "rotated" });
    expect(await verifyOwner(lily.sessions.repository, OWNER)).toMatchObject({ ok: true, problems: [] });
  });

  it("must rotate by /new in segmented mode (F2)", async () => {
    const { lily, switchTo } = await open("legacy");
    await lily.send("one");
    await switchTo("segmented");
    expect(await lily.send("/new")).toMatchObject({ outcome: "rotated" });
    expect(await sessionsOf(lily)).toBe(2);
  });

  it("lets time end the session again from the next message on", async () => {
    const { lily, switchTo } = await open("legacy");
    await lily.send("one");
    lily.clock.advance(2 * DAY);
    await switchTo("segmented");
    expect((await lily.send("two")).announcement).toMatch(/^A new conversation began/u);
  });
});
