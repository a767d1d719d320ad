import { afterEach, describe, expect, it } from "vitest";
import type { TopicEvidence, TopicQuestion } from "#src/sessions/decide-rollover.ts";
import { verifyOwner } from "#src/sessions/verify.ts";
import { createHarness, echoModel, inputOf, latestOf, OWNER, type Harness } from "./testing/harness.ts";

const MINUTE = 60_000;
const SHIFT: TopicEvidence = { kind: "shift", confidence: 0.95 };
const SAME: TopicEvidence = { kind: "same", confidence: 0.95 };

/** A classifier that says what a test puts in `says`, and keeps what it was asked. */
function scriptedTopics() {
  const asked: TopicQuestion[] = [];
  const script = { says: SAME, asked };
  return Object.assign(script, {
    classify: async (question: TopicQuestion): Promise<TopicEvidence> => {
      asked.push(question);
      return script.says;
    },
  });
}

let lily: Harness | undefined;
afterEach(async () => lily?.close());

async function open(semantic: object = {}, config: object = {}) {
  const topics = scriptedTopics();
  const model = echoModel();
  const rollover = { semantic: { enabled: true, minTurns: 2, ...semantic } };
  lily = await createHarness({ model, topics, config: { rollover, ...withModel(config) } });
  return { lily, topics, model };
}

const withModel = (config: object) => ({ agents: { defaults: { model: "scripted:test" } }, ...config });

async function say(lily: Harness, ...texts: string[]) {
  const replies = [];
  for (const text of texts) replies.push(await lily.send(text));
  return replies;
}

const ordinals = async (lily: Harness): Promise<number> => (await lily.chain()).sessions.length;

describe("a change of topic", () => {
  it("opens a new session at the threshold, which answers the message and says why", async () => {
    const { lily, topics, model } = await open();
    await say(lily, "taxes one", "taxes two");
    topics.says = SHIFT;
    const [reply] = await say(lily, "bikes");
    expect(reply?.envelope.message).toBe("bikes");
    expect(reply?.announcement).toBe(
      "A new conversation began: the topic changed (confidence 0.95, threshold 0.80, by the built-in classifier). " +
        "/rejoin undoes it.",
    );
    expect(topics.asked.at(-1)).toEqual({ recent: ["taxes one", "taxes two"], message: "bikes" });
    expect(inputOf(model)).toEqual(["human: bikes"]);
    expect(await ordinals(lily)).toBe(2);
  });

  it.each(["apollo", "Umzug nach Köln", "引っ越し"])(
    "says that the task %s goes on in the new session, and how to leave it (M-9)",
    async (task) => {
      const { lily, topics } = await open();
      await say(lily, `/task ${task}`, "taxes one", "taxes two");
      topics.says = SHIFT;
      const [reply] = await say(lily, "bikes");
      expect(reply?.announcement).toContain(`The task “${task}” goes on; /task none leaves it.`);
      expect((await lily.send("/status")).envelope.text).toContain(task);
    },
  );

  it("is not looked for before the least number of turns (RO-15)", async () => {
    const { lily, topics } = await open();
    topics.says = SHIFT;
    await say(lily, "hi", "help me choose a bike");
    expect(topics.asked).toEqual([]);
    expect(await ordinals(lily)).toBe(1);
  });

  it.each<[string, TopicEvidence]>([
    ["no evidence", { kind: "unknown", why: "the control model answered in prose" }],
    ["weak evidence", { kind: "shift", confidence: 0.51 }],
    ["a confidence that is no number", { kind: "shift", confidence: Number.NaN }],
  ])("is not seen in %s, and the turn says unknown (RO-16)", async (_what, says) => {
    const { lily, topics } = await open();
    await say(lily, "taxes one", "taxes two");
    topics.says = says;
    await say(lily, "bikes");
    const turns = await lily.turns(latestOf(await lily.chain()).sessionId);
    expect(turns.at(-1)?.explanation.verdict).toMatchObject({
      action: "stay",
      semantic: { result: "unknown" },
    });
    const status = await lily.send("/status");
    expect(status.envelope.data).toMatchObject({ topicUnknown: 1 });
  });

  it("has to be confirmed by as many messages as configured, which stay where they were committed", async () => {
    const { lily, topics } = await open({ confirmations: 2 });
    await say(lily, "taxes one", "taxes two");
    topics.says = SHIFT;
    const [first, second] = await say(lily, "bikes one", "bikes two");
    expect(topics.asked.at(-1)).toEqual({ recent: ["taxes one", "taxes two"], message: "bikes two" });
    expect(first?.announcement).toBeUndefined();
    expect(second?.sessionId).not.toBe(first?.sessionId);
    const [old] = (await lily.chain()).sessions;
    expect(old?.sealed?.turns).toBe(3);
  });

  it("is not confirmed by messages with the old topic between them", async () => {
    const { lily, topics } = await open({ confirmations: 2 });
    await say(lily, "taxes one", "taxes two");
    for (const says of [SHIFT, SAME, SHIFT]) {
      topics.says = says;
      await say(lily, "something");
    }
    expect(await ordinals(lily)).toBe(1);
  });

  it("happens once in the cooldown (E1)", async () => {
    const { lily, topics } = await open({ minTurns: 1, cooldown: "30m" }, {});
    await say(lily, "taxes");
    topics.says = SHIFT;
    await say(lily, "bikes", "boats", "birds", "books", "bread");
    expect(await ordinals(lily)).toBe(2);
    lily.clock.advance(30 * MINUTE);
    await say(lily, "beer");
    expect(await ordinals(lily)).toBe(3);
  });

  it("is decided by the configured control model, never by the one that answers", async () => {
    const { lily } = await open(
      {},
      { agents: { defaults: { model: "scripted:test", controlModel: "openai:judge" } } },
    );
    const decidedBy = async () => (await lily.send("/control-model")).envelope.data;
    await say(lily, "hello");
    expect(await decidedBy()).toMatchObject({ model: "openai:judge", level: "defaults" });
    await say(lily, "/model scripted:test");
    expect(await decidedBy()).toMatchObject({ model: "openai:judge", level: "defaults" });
    await say(lily, "/control-model openai:other");
    expect(await decidedBy()).toMatchObject({ model: "openai:other", level: "session" });
    await say(lily, "/new");
    expect(await decidedBy()).toMatchObject({ model: "openai:other", level: "session" });
    await say(lily, "/control-model reset");
    expect(await decidedBy()).toMatchObject({ model: "openai:judge", level: "defaults" });
  });
});

describe("a wrong change of topic", () => {
  async function split() {
    const world = await open();
    await say(world.lily, "taxes one", "taxes two");
    world.topics.says = SHIFT;
    await say(world.lily, "deductions");
    world.topics.says = SAME;
    return world;
  }
  const WHOLE = [
    "human: taxes one",
    "ai: taxes one",
    "human: taxes two",
    "ai: taxes two",
    "human: deductions",
    "ai: deductions",
  ];

  it("is undone by itself when the next messages belong to the old topic (E2)", async () => {
    const { lily, topics, model } = await split();
    const [reply] = await say(lily, "deductions for a car");
    expect(topics.asked.at(-1)).toEqual({
      recent: ["taxes one", "taxes two"],
      message: "deductions\ndeductions for a car",
    });
    expect(inputOf(model)).toEqual([...WHOLE, "human: deductions for a car"]);
    expect(reply?.announcement).toMatch(/^The conversation before goes on: .*\/new begins a new one\.$/u);
    const chain = await lily.chain();
    expect(latestOf(chain).continues).toEqual(chain.sessions.slice(0, 2).map(({ sessionId }) => sessionId));
    expect(await verifyOwner(lily.sessions.repository, OWNER)).toMatchObject({ ok: true });
  });

  it("is undone by itself in the second turn after it, not in the third", async () => {
    const { lily, topics } = await split();
    topics.says = SHIFT;
    await say(lily, "bikes");
    topics.says = SAME;
    await say(lily, "deductions");
    expect(await ordinals(lily)).toBe(3);

    await lily.close();
    const late = await split();
    late.topics.says = SHIFT;
    await say(late.lily, "bikes", "boats");
    late.topics.says = SAME;
    await say(late.lily, "deductions");
    expect(await ordinals(late.lily)).toBe(2);
  });

  it("is undone by hand at any time, with the text that comes with it, also after a restart", async () => {
    const { lily, topics, model } = await split();
    topics.says = { kind: "unknown", why: "down" };
    await lily.restart();
    const [reply] = await say(lily, "/rejoin and the car?");
    expect(reply?.envelope.message).toBe("and the car?");
    expect(inputOf(model)).toEqual([...WHOLE, "human: and the car?"]);
    const [again] = await say(lily, "/rejoin");
    expect(again).toMatchObject({ outcome: "refused", envelope: { code: "session_not_found" } });
  });

  it("is undone again after another one, with nothing lost and nothing twice", async () => {
    const { lily, topics, model } = await split();
    await say(lily, "/rejoin", "more taxes", "still taxes");
    lily.clock.advance(31 * MINUTE);
    topics.says = SHIFT;
    await say(lily, "forms");
    topics.says = SAME;
    await say(lily, "forms for taxes");
    const said = ["more taxes", "still taxes", "forms"].flatMap((text) => [`human: ${text}`, `ai: ${text}`]);
    expect(inputOf(model)).toEqual([...WHOLE, ...said, "human: forms for taxes"]);
    const chain = await lily.chain();
    expect(chain.sessions.map(({ continues }) => continues.length)).toEqual([0, 0, 2, 0, 2]);
    expect(await verifyOwner(lily.sessions.repository, OWNER)).toMatchObject({ ok: true });
  });

  it("answers a repeated delivery of the message that undid it from what is stored", async () => {
    const { lily, model } = await split();
    const first = await lily.send("deductions for a car", { deliveryId: "again" });
    const calls = model.calls.length;
    const second = await lily.send("deductions for a car", { deliveryId: "again" });
    expect(second).toEqual({ ...first, repeated: true });
    expect(model.calls.length).toBe(calls);
  });
});
