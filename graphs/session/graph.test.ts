import { describe, expect, it } from "vitest";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { verifyOwner } from "#src/sessions/verify.ts";
import { echoModel, inputOf, latestOf, OWNER } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const HOUR = 3_600_000;
const start = harnessStarter();

const recall = (query: string, rationale: string) => ({
  toolCalls: [{ id: "r1", name: "session_recall", args: { query, rationale } }],
});

describe("the validation cases of the session lifecycle, through whole turns on SQLite", () => {
  it("session_new_hard_cut_creates_segment", async () => {
    const lily = await start({ model: echoModel() });
    const first = await lily.send("remember the milk");
    const reply = await lily.send("/new");

    const chain = await lily.chain();
    expect(chain.sessions.map((entry) => [entry.sessionId, entry.previous])).toEqual([
      [first.sessionId, null],
      [reply.sessionId, first.sessionId],
    ]);
    expect(chain.latest).toBe(reply.sessionId);
    expect(chain.sessions[0]?.sealed).toMatchObject({ turns: 1 });
    expect(await verifyOwner(lily.sessions.repository, OWNER)).toMatchObject({
      ok: true,
      sessions: 2,
      turns: 1,
    });
  });

  it("session_new_repeated_chain_integrity", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("one");
    await lily.send("/new");
    await lily.send("/new");
    const { sessions, latest } = await lily.chain();
    expect(sessions).toHaveLength(3);
    expect(sessions.map((entry) => entry.previous)).toEqual([
      null,
      sessions[0]?.sessionId,
      sessions[1]?.sessionId,
    ]);
    expect(latest).toBe(sessions[2]?.sessionId);
    expect(sessions.filter((entry) => entry.sealed === undefined)).toHaveLength(1);
  });

  it("session_rollover_hard_trigger_always_rolls", async () => {
    const lily = await start({
      model: echoModel(),
      config: { rollover: { idle: { enabled: false }, dayBoundary: { enabled: false } } },
    });
    await lily.send("hello");
    for (const state of ["after the first turn", "empty session", "after a turn", "long after"]) {
      const before = (await lily.chain()).latest;
      const reply = await lily.send("/new");
      expect([state, reply.outcome, reply.sessionId !== before]).toEqual([state, "rotated", true]);
      if (state === "empty session") await lily.send("hello");
      if (state === "after a turn") lily.clock.advance(1000 * HOUR);
    }
  });

  it("session_rollover_temporal_expired", async () => {
    const lily = await start({ model: echoModel() });
    const first = await lily.send("good evening");
    lily.clock.advance(12 * HOUR + 1);
    const second = await lily.send("good morning");

    expect(second.sessionId).not.toBe(first.sessionId);
    expect(second.announcement).toContain("12 h since the last turn (limit 12 h)");
    expect(latestOf(await lily.chain())).toMatchObject({
      sessionId: second.sessionId,
      previous: first.sessionId,
      opened: { verdict: { trigger: "idle", limitMs: 12 * HOUR } },
    });
    expect(
      (await lily.turns(second.sessionId)).map((turn) => turn.messages.map((message) => message.content)),
    ).toEqual([["good morning", "good morning"]]);
  });

  it("session_rollover_temporal_expired at the day boundary", async () => {
    const lily = await start({ model: echoModel(), startMs: Date.parse("2026-03-01T22:00:00.000Z") });
    const first = await lily.send("one more thing tonight");
    lily.clock.advance(8 * HOUR);
    const second = await lily.send("morning");
    expect(second.sessionId).not.toBe(first.sessionId);
    expect(second.announcement).toContain("the day ended at 2026-03-02 04:00 UTC");
  });

  it("session_rollover_temporal_within_window_noop", async () => {
    const lily = await start({ model: echoModel() });
    const first = await lily.send("hello");
    lily.clock.advance(12 * HOUR - 1);
    const second = await lily.send("still there?");
    expect(second).toMatchObject({ sessionId: first.sessionId, turn: 2 });
    expect(second.announcement).toBeUndefined();
  });

  it("latest_context_uses_latest_only", async () => {
    const model = echoModel();
    const lily = await start({ model });
    await lily.send("secret of session one");
    await lily.send("/new");
    await lily.send("secret of session two");
    await lily.send("/new");
    await lily.send("first of session three");
    await lily.send("second of session three");
    expect(inputOf(model)).toEqual([
      "human: first of session three",
      "ai: first of session three",
      "human: second of session three",
    ]);
    expect(JSON.stringify(model.calls.at(-1)?.messages)).not.toContain("secret");
  });

  it("history_recall_requires_explicit_selection", async () => {
    const model = new ScriptedChatModel([
      "noted",
      "hello",
      recall("flight", "the user asks for a flight they named before"),
      "It is BA117.",
    ]);
    const lily = await start({ model });
    const past = await lily.send("my flight is BA117");
    await lily.send("/new hello");
    const reply = await lily.send("which flight was it?");

    expect(reply.envelope.message).toBe("It is BA117.");
    const injected = inputOf(model).find((line) => line.startsWith("tool:")) ?? "";
    expect(injected).toContain("my flight is BA117");
    for (const part of ["session 1", "turn 1", "2026-03-01 09:00", "score", "the user asks for a flight"]) {
      expect(injected).toContain(part);
    }
    const turns = await lily.turns(reply.sessionId);
    expect(turns.at(-1)?.explanation.recalled).toEqual([
      {
        sessionId: past.sessionId,
        turn: 1,
        at: "2026-03-01T09:00:00.000Z",
        score: expect.any(Number),
        rationale: "the user asks for a flight they named before",
      },
    ]);
  });

  it("history_recall_requires_explicit_selection with /recall, which the next model input then holds", async () => {
    const model = echoModel();
    const lily = await start({ model });
    await lily.send("my flight is BA117");
    await lily.send("/new");
    const reply = await lily.send("/recall flight");
    expect(reply.envelope.message).toContain("my flight is BA117");
    await lily.send("so when do I leave?");
    expect(inputOf(model).join("\n")).toContain("the user asked with /recall flight");
  });

  it("history_segment_immutable", async () => {
    const model = echoModel();
    const lily = await start({ model });
    const first = await lily.send("hello", { deliveryId: "m1" });
    const second = await lily.send("/new and now this");
    const before = await lily.turns(first.sessionId);
    const sealed = (await lily.chain()).sessions[0];

    await lily.send("/title new name");
    await lily.send("more");
    await lily.send("hello", { deliveryId: "m1" });
    const late = await lily.sessions.graph.invoke(
      { messages: [{ role: "user", content: "to the old thread", id: "late" }] },
      {
        configurable: { thread_id: first.sessionId },
        context: { owner: OWNER, sessionKey: "test:main", followsHandoff: true, fence: undefined },
      },
    );

    expect(late.handoff).toMatchObject({
      sessionId: second.sessionId,
      message: { content: "to the old thread" },
    });
    expect(await lily.turns(first.sessionId)).toEqual(before);
    expect((await lily.chain()).sessions[0]).toEqual(sealed);
    expect((await verifyOwner(lily.sessions.repository, OWNER)).ok).toBe(true);
  });

  it("segmented_mode_new_must_rotate", async () => {
    const lily = await start({ model: echoModel() });
    const before = await lily.send("keep me");
    const reply = await lily.send("/new");
    expect(reply).toMatchObject({ outcome: "rotated", envelope: { code: "session_rotated" } });
    expect(reply.sessionId).not.toBe(before.sessionId);
    expect((await lily.turns(before.sessionId)).map((turn) => turn.messages[0]?.content)).toEqual([
      "keep me",
    ]);
  });
});

describe("a session from its first turn", () => {
  it("has the required fields of the session contract in its state", async () => {
    const lily = await start({ model: echoModel() });
    const reply = await lily.send("hello");
    const snapshot = await lily.sessions.graph.getState({ configurable: { thread_id: reply.sessionId } });
    expect(snapshot.values.session).toMatchObject({
      sessionId: reply.sessionId,
      activeAgent: "lily",
      skillSnapshot: { snapshot_version: "1", skills: [], diagnostics: [] },
      modelConfig: { model: "scripted:test", chosen: false },
      createdAt: "2026-03-01T09:00:00.000Z",
      lastActivityAt: "2026-03-01T09:00:00.000Z",
      expiresAt: "2026-03-01T21:00:00.000Z",
    });
    expect(snapshot.values.messages.map((message: { text: string }) => message.text)).toEqual([
      "hello",
      "hello",
    ]);
  });

  it("goes on after a restart with what was said before it", async () => {
    const model = echoModel();
    const lily = await start({ model });
    const first = await lily.send("before");
    await lily.restart();
    const second = await lily.send("after");
    expect(second).toMatchObject({ sessionId: first.sessionId, turn: 2 });
    expect(inputOf(model)).toEqual(["human: before", "ai: before", "human: after"]);
  });

  it("keeps its checkpoint within its budget while the transcript keeps everything", async () => {
    const lily = await start({ model: new ScriptedChatModel(() => "x".repeat(2_400)) });
    let last = "";
    for (let turn = 0; turn < 20; turn += 1)
      last = (await lily.send(`message ${turn} ${"y".repeat(2_100)}`)).sessionId;
    const tuple = await lily.storage.checkpointer.getTuple({ configurable: { thread_id: last } });
    expect(JSON.stringify(tuple?.checkpoint).length).toBeLessThan(64_000);
    const turns = await lily.turns(last);
    expect(turns).toHaveLength(20);
    expect(JSON.stringify(turns).length).toBeGreaterThan(90_000);
  });
});

describe("/resume", () => {
  it("opens a session that continues the earlier one, whose turns the model sees, and reopens nothing", async () => {
    const model = echoModel();
    const lily = await start({ model });
    const first = await lily.send("my flight is BA117");
    lily.clock.advance(13 * HOUR);
    const second = await lily.send("what gate?");
    const resumed = await lily.send("/resume");
    await lily.send("and now?");

    expect(inputOf(model)).toEqual([
      "human: my flight is BA117",
      "ai: my flight is BA117",
      "human: what gate?",
      "ai: what gate?",
      "human: and now?",
    ]);
    const chain = await lily.chain();
    expect(chain.sessions).toHaveLength(3);
    expect(latestOf(chain)).toMatchObject({
      sessionId: resumed.sessionId,
      continues: [first.sessionId, second.sessionId],
    });
    expect(await lily.turns(first.sessionId)).toHaveLength(1);
    expect((await verifyOwner(lily.sessions.repository, OWNER)).ok).toBe(true);
  });

  it("takes a number or the start of an id, and refuses what it cannot find without ending anything", async () => {
    const lily = await start({ model: echoModel() });
    const first = await lily.send("one");
    await lily.send("/new two");
    await lily.send("/new three");
    const before = await lily.chain();
    expect((await lily.send("/resume 9")).envelope).toMatchObject({ ok: false, code: "session_not_found" });
    expect((await lily.send("/resume zzzz")).envelope).toMatchObject({
      ok: false,
      code: "session_not_found",
    });
    expect((await lily.send("/resume 3")).envelope).toMatchObject({ ok: false, code: "command_usage" });
    expect(await lily.chain()).toEqual(before);
    await lily.send("/resume 1");
    expect(latestOf(await lily.chain()).continues).toEqual([first.sessionId]);
    await lily.send(`/resume ${first.sessionId.slice(0, 8)}`);
    expect(latestOf(await lily.chain()).continues).toEqual([first.sessionId]);
  });
});

describe("deliveries", () => {
  it("DL-01 answers the same delivery again from what is stored, with one model call", async () => {
    const model = echoModel();
    const lily = await start({ model });
    const first = await lily.send("book it", { deliveryId: "tg-501" });
    lily.clock.advance(61_000);
    const second = await lily.send("book it", { deliveryId: "tg-501" });
    expect(second).toEqual({ ...first, repeated: true });
    expect(model.calls).toHaveLength(1);
    expect(await lily.turns(first.sessionId)).toHaveLength(1);
  });

  it("DL-02 lets the same delivery wait for the turn that runs, and answers it from that", async () => {
    const model = echoModel();
    const lily = await start({ model });
    const [a, b] = await Promise.all([
      lily.send("book it", { deliveryId: "x" }),
      lily.send("book it", { deliveryId: "x" }),
    ]);
    expect([a.repeated, b.repeated].toSorted()).toEqual([false, true]);
    expect(model.calls).toHaveLength(1);
  });

  it("DL-03 knows a delivery after a restart and a rollover", async () => {
    const model = echoModel();
    const lily = await start({ model });
    const first = await lily.send("hello", { deliveryId: "bb-7" });
    await lily.restart();
    lily.clock.advance(17 * HOUR);
    await lily.send("next day");
    const again = await lily.send("hello", { deliveryId: "bb-7" });
    expect(again).toMatchObject({ repeated: true, sessionId: first.sessionId, turn: 1 });
    expect(model.calls).toHaveLength(2);
  });

  it("DL-05 answers an honest repeat of the same text", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("ok", { deliveryId: "m1" });
    expect(await lily.send("ok", { deliveryId: "m2" })).toMatchObject({ repeated: false, turn: 2 });
  });

  it("DL-06 loses none of twenty messages that are sent at once", async () => {
    const lily = await start({ model: echoModel() });
    const texts = Array.from({ length: 20 }, (_unused, index) => `m${index}`);
    const replies = await Promise.all(texts.map((text) => lily.send(text)));
    const turns = await lily.turns(replies[0]?.sessionId ?? "");
    expect(turns.map((turn) => turn.messages[0]?.content).toSorted()).toEqual(texts.toSorted());
    expect(turns.every((turn) => turn.messages.length === 2)).toBe(true);
  });

  it("refuses an id that comes again with another text, and stores nothing", async () => {
    const lily = await start({ model: echoModel() });
    const first = await lily.send("one", { deliveryId: "same" });
    const second = await lily.send("two", { deliveryId: "same" });
    expect(second.envelope).toMatchObject({ ok: false, code: "delivery_conflict" });
    expect(await lily.turns(first.sessionId)).toHaveLength(1);
  });

  it("neither rotates again nor loses the text when /new with text is delivered again", async () => {
    const model = echoModel();
    const lily = await start({ model });
    await lily.send("before");
    const first = await lily.send("/new hello", { deliveryId: "d" });
    const again = await lily.send("/new hello", { deliveryId: "d" });
    expect(again).toEqual({ ...first, repeated: true });
    await lily.send("/new");
    expect(await lily.send("/new hello", { deliveryId: "d" })).toEqual({ ...first, repeated: true });
    expect((await lily.chain()).sessions).toHaveLength(3);
  });

  it("answers a repeated bare /new with the same notice and does not rotate again", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("before");
    const first = await lily.send("/new", { deliveryId: "d" });
    expect(await lily.send("/new", { deliveryId: "d" })).toEqual({ ...first, repeated: true });
    expect((await lily.chain()).sessions).toHaveLength(2);
  });
});
