import { tool } from "@langchain/core/tools";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { verifyOwner } from "#src/sessions/verify.ts";
import { echoModel, inputOf, latestOf, OWNER } from "./testing/harness.ts";
import { failingPuts } from "./testing/failing-store.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const HOUR = 3_600_000;
const MINUTE = 60_000;
const start = harnessStarter();
const at = (instant: string): number => Date.parse(instant);

describe("field reports of session reset and rollover", () => {
  it("RO-02 does not let reads and jobs keep a session young", async () => {
    const lily = await start({ model: echoModel(), startMs: at("2026-03-01T08:00:00Z") });
    const first = await lily.send("morning");
    for (let half = 0; half < 25; half += 1) {
      lily.clock.advance(30 * MINUTE);
      for (const command of ["/status", "/sessions", "/history", "/help"]) await lily.send(command);
      await lily.storage.checkpointer.retain(first.sessionId, 20);
    }
    const second = await lily.send("evening");
    expect(second.sessionId).not.toBe(first.sessionId);
    expect(second.announcement).toContain("12 h 30 min since the last turn");
  });

  it("RO-03 keeps two adjacent messages around the day boundary together", async () => {
    const model = echoModel();
    const lily = await start({ model, startMs: at("2026-03-02T03:58:00Z") });
    const first = await lily.send("my flight is BA117");
    lily.clock.advance(3 * MINUTE);
    const second = await lily.send("what gate?");
    expect(second.sessionId).toBe(first.sessionId);
    expect(inputOf(model)).toContain("human: my flight is BA117");
    lily.clock.advance(10 * MINUTE);
    const third = await lily.send("thanks");
    expect(third.sessionId).not.toBe(first.sessionId);
    expect(third.announcement).toContain("the day ended at 2026-03-02 04:00 UTC");
  });

  it("RO-04 keeps a turn that runs across the boundary whole, and the next message in one session", async () => {
    const startMs = at("2026-03-02T03:59:50Z");
    const model = new ScriptedChatModel((_messages, call) => {
      if (call === 0)
        return { toolCalls: [{ id: "c1", name: "session_recall", args: { query: "x", rationale: "y" } }] };
      if (call === 1) lily.clock.advance(30_000);
      return `answer ${call}`;
    });
    const lily = await start({ model, startMs, config: { rollover: { dayBoundary: { minIdle: 0 } } } });
    const [first, second] = await Promise.all([lily.send("long one"), lily.send("short one")]);
    const turns = await lily.turns(first.sessionId);
    expect(
      turns.find((turn) => turn.messages[0]?.content === "long one")?.messages.map((message) => message.role),
    ).toEqual(["user", "assistant", "tool", "assistant"]);
    const all = [
      ...turns,
      ...(second.sessionId === first.sessionId ? [] : await lily.turns(second.sessionId)),
    ];
    expect(all.filter((turn) => turn.messages[0]?.content === "short one")).toHaveLength(1);
    expect((await verifyOwner(lily.sessions.repository, OWNER)).ok).toBe(true);
  });

  it("RO-06 keeps a message that races a rollover in exactly one transcript", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("before");
    await Promise.all([lily.send("/new"), lily.send("m5"), lily.send("/new"), lily.send("m6")]);
    await lily.restart();
    const chain = await lily.chain();
    const texts: string[] = [];
    for (const entry of chain.sessions) {
      for (const turn of await lily.turns(entry.sessionId)) texts.push(turn.messages[0]?.content ?? "");
    }
    expect(texts.toSorted()).toEqual(["before", "m5", "m6"]);
  });

  it("RO-11 gives a new session nothing of the old one", async () => {
    const model = echoModel();
    const lily = await start({ model });
    await lily.send("planning a trip to Porto");
    await lily.send("/title Porto");
    await lily.send("/new");
    await lily.send("hello");
    expect(JSON.stringify(model.calls.at(-1)?.messages)).not.toContain("Porto");
  });

  it("gives a hand-over note when the policy says so, marked as past", async () => {
    const model = echoModel();
    const lily = await start({ model, config: { rollover: { handover: "brief" } } });
    await lily.send("planning a trip to Porto");
    await lily.send("/new");
    await lily.send("hello");
    const system = JSON.stringify(model.calls.at(-1)?.messages[0]);
    expect(system).toContain("which is over");
    expect(system).toContain("planning a trip to Porto");
    expect(inputOf(model)).toEqual(["human: hello"]);
  });

  it("RO-12 runs on the new session's own thread after /new", async () => {
    const model = echoModel();
    const lily = await start({ model });
    await lily.send("the word is heron");
    const opened = await lily.send("/new");
    const reply = await lily.send("what did I say just before?");
    expect(reply.sessionId).toBe(opened.sessionId);
    expect(inputOf(model)).toEqual(["human: what did I say just before?"]);
  });

  it("RO-13 reports a failed /new as failed and stays where it was", async () => {
    const failing = failingPuts((namespace) => namespace[0] === "sessions");
    const lily = await start({ model: echoModel(), wrapStorage: failing.wrap });
    const first = await lily.send("hello");
    failing.arm();
    const reply = await lily.send("/new");
    expect(reply).toMatchObject({ outcome: "failed", envelope: { ok: false } });
    failing.disarm();
    expect((await lily.chain()).latest).toBe(first.sessionId);
    expect(await lily.send("go on")).toMatchObject({ sessionId: first.sessionId, turn: 2 });
    const again = await lily.send("/new");
    expect(latestOf(await lily.chain())).toMatchObject({
      sessionId: again.sessionId,
      previous: first.sessionId,
    });
  });

  it("RO-14 lists ended sessions with times and reasons, and goes back to one", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("first topic");
    lily.clock.advance(13 * HOUR);
    await lily.send("second topic");
    const { data } = (await lily.send("/sessions")).envelope;
    expect(data?.["sessions"]).toMatchObject([
      {
        ordinal: 1,
        title: "first topic",
        turns: 1,
        openedBecause: "first message",
        sealed: "2026-03-01 22:00",
      },
      {
        ordinal: 2,
        title: "second topic",
        latest: true,
        openedBecause: "13 h since the last turn (limit 12 h)",
        sealed: null,
      },
    ]);
    await lily.send("/resume 1");
    expect((await lily.chain()).sessions.filter((entry) => entry.sealed === undefined)).toHaveLength(1);
  });

  it("RO-19 ignores when checkpoints were written", async () => {
    const lily = await start({ model: echoModel() });
    const first = await lily.send("hello");
    lily.clock.advance(MINUTE);
    expect((await lily.send("hello again")).sessionId).toBe(first.sessionId);
  });

  it("RO-21 does not let /new or /status wait behind a long tool, and keeps the tool's turn in its session", async () => {
    let release: (text: string) => void = () => undefined;
    let markBegun: () => void = () => undefined;
    const begun = new Promise<void>((resolve) => (markBegun = resolve));
    const slow = tool(
      () => {
        markBegun();
        return new Promise<string>((resolve) => (release = resolve));
      },
      { name: "slow", description: "takes ten minutes", schema: z.object({}) },
    );
    const model = new ScriptedChatModel((_messages, index) =>
      index === 0 ? { toolCalls: [{ id: "c1", name: "slow", args: {} }] } : "hello again",
    );
    const lily = await start({ model, adjust: (deps) => ({ ...deps, tools: [slow] }) });
    const long = lily.send("do the long thing");
    await begun;
    expect(await lily.send("/status")).toMatchObject({ outcome: "command" });
    const rotated = await lily.send("/new");
    release("late result");
    const stopped = await long;
    expect(stopped).toMatchObject({ status: "stopped", turn: 1 });
    expect(rotated.sessionId).not.toBe(stopped.sessionId);
    const turns = await lily.turns(stopped.sessionId);
    expect(turns[0]?.messages.map((message) => message.content)).toEqual([
      "do the long thing",
      "",
      "stopped by the user before it ended",
    ]);
    await lily.send("hi");
    expect(inputOf(model)).toEqual(["human: hi"]);
    expect((await verifyOwner(lily.sessions.repository, OWNER)).ok).toBe(true);
  });

  it("RO-22 rolls over lazily: /status shows it due and changes nothing, the next message does it once", async () => {
    const lily = await start({ model: echoModel(), startMs: at("2026-03-01T23:00:00Z") });
    const first = await lily.send("good night");
    lily.clock.set(at("2026-03-02T06:00:00Z"));
    const status = await lily.send("/status");
    expect(status.envelope.data).toMatchObject({
      sessionId: first.sessionId,
      latest: true,
      next: { due: true },
    });
    expect((await lily.chain()).sessions).toHaveLength(1);
    lily.clock.set(at("2026-03-02T08:00:00Z"));
    await lily.send("good morning");
    await lily.send("and again");
    expect((await lily.chain()).sessions).toHaveLength(2);
  });

  it("lets the policy be set by key prefix, agent and session, the nearest having the last word", async () => {
    const config = {
      rollover: { idle: { limit: "1h" } },
      keys: [
        { prefix: "work:", rollover: { idle: { limit: "2h" } } },
        { prefix: "work:slow:", rollover: { idle: { limit: "3h" } } },
      ],
    };
    const lily = await start({ model: echoModel(), config });
    const limitOf = async (sessionKey: string) =>
      (
        (await lily.send("/status", { sessionKey })).envelope.data?.["next"] as
          | { limitMs?: number }
          | undefined
      )?.limitMs;
    for (const sessionKey of ["home", "work:x", "work:slow:x"]) await lily.send("hi", { sessionKey });
    await lily.send("/rollover idle 4h", { sessionKey: "work:slow:x" });
    expect([await limitOf("home"), await limitOf("work:x"), await limitOf("work:slow:x")]).toEqual([
      HOUR,
      2 * HOUR,
      4 * HOUR,
    ]);
  });
});

describe("field reports of clocks, through whole turns", () => {
  it("TZ-04 ends the day in the key's own zone", async () => {
    const config = { keys: [{ prefix: "tokyo", rollover: { timeZone: "Asia/Tokyo" } }] };
    const lily = await start({ model: echoModel(), config, startMs: at("2026-01-10T18:00:00Z") });
    const first = await lily.send("a", { sessionKey: "tokyo" });
    lily.clock.set(at("2026-01-10T19:30:00Z"));
    const second = await lily.send("b", { sessionKey: "tokyo" });
    lily.clock.set(at("2026-01-11T04:30:00Z"));
    const third = await lily.send("c", { sessionKey: "tokyo" });
    expect(second.sessionId).not.toBe(first.sessionId);
    expect(third.sessionId).toBe(second.sessionId);
  });

  it("TZ-05 shows dates in the user's zone", async () => {
    const lily = await start({
      model: echoModel(),
      config: { timeZone: "America/Bogota" },
      startMs: at("2026-05-02T02:40:00Z"),
    });
    await lily.send("note");
    expect((await lily.send("/sessions")).envelope.data?.["sessions"]).toMatchObject([
      { opened: "2026-05-01 21:40" },
    ]);
  });

  it("TZ-08 accepts turns in the same instant", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("one");
    expect(await lily.send("two")).toMatchObject({ outcome: "answered", turn: 2 });
  });

  it("TZ-11 stays and repairs the stored time when the clock was ahead, and ends by idleness later", async () => {
    const lily = await start({ model: echoModel() });
    lily.clock.advance(3 * HOUR);
    const first = await lily.send("from the future");
    lily.clock.set(at("2026-03-01T09:00:00Z"));
    const second = await lily.send("back");
    expect(second.sessionId).toBe(first.sessionId);
    expect((await lily.send("/status")).envelope.data).toMatchObject({ lastActivity: "2026-03-01 09:00" });
    lily.clock.advance(16 * HOUR);
    expect((await lily.send("later")).announcement).toContain("16 h since the last turn");
  });

  it("TZ-13 keeps the order of messages when the clock goes back", async () => {
    const lily = await start({ model: echoModel(), startMs: 1_772_355_600_000 });
    const first = await lily.send("m1");
    lily.clock.set(1_772_355_599_999);
    await lily.send("m2");
    expect((await lily.turns(first.sessionId)).map((turn) => turn.messages[0]?.content)).toEqual([
      "m1",
      "m2",
    ]);
  });

  it("HI-10 HI-11 reads messages of one instant in the order of insertion, every time", async () => {
    const lily = await start({ model: echoModel() });
    const texts = Array.from({ length: 12 }, (_unused, index) => `m${index}`);
    let sessionId = "";
    for (const text of texts) sessionId = (await lily.send(text)).sessionId;
    await lily.restart();
    for (let read = 0; read < 20; read += 1) {
      expect((await lily.turns(sessionId)).map((turn) => turn.messages[0]?.content)).toEqual(texts);
    }
  });
});
