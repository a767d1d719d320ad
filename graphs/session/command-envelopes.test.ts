import { afterAll, describe, expect, it } from "vitest";
import { COMMANDS } from "#src/commands/registry.ts";
import { createHarness, echoModel, OWNER, type Harness } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const HOUR = 3_600_000;
const start = harnessStarter();

/** A conversation of two sessions whose bytes are the same in each run. */
async function twoSessions(): Promise<Harness> {
  const lily = await createHarness({ model: echoModel() });
  await lily.send("my flight is BA117", { deliveryId: "m1" });
  lily.clock.advance(13 * HOUR);
  await lily.send("good morning", { deliveryId: "m2" });
  return lily;
}

const cases: readonly [name: string, text: string][] = [
  ["new", "/new"],
  ["status", "/status"],
  ["sessions", "/sessions"],
  ["sessions-query", "/sessions flight"],
  ["history", "/history"],
  ["history-usage", "/history many"],
  ["recall", "/recall flight"],
  ["recall-nothing", "/recall submarine"],
  ["recall-usage", "/recall"],
  ["resume", "/resume"],
  ["resume-unknown", "/resume 7"],
  ["resume-itself", "/resume 2"],
  ["why", "/why"],
  ["why-unknown", "/why 9"],
  ["why-usage", "/why often"],
  ["title", "/title"],
  ["title-set", "/title  Morning\nnotes "],
  ["title-long", `/title ${"x".repeat(121)}`],
  ["model", "/model"],
  ["model-set", "/model gpt-4o-mini"],
  ["model-unknown", "/model foo:bar"],
  ["model-reset", "/model reset"],
  ["agents", "/agents"],
  ["agent-unknown", "/agent nobody"],
  ["persona", "/persona"],
  ["skills", "/skills"],
  ["skills-unknown", "/skills tea"],
  ["reload-persona", "/reload_persona"],
  ["reload-skills", "/reload_skills"],
  ["style", "/style"],
  ["style-set", "/style short,  no lists"],
  ["style-long", `/style ${"x".repeat(501)}`],
  ["reasoning-set", "/reasoning HIGH"],
  ["verbosity", "/verbosity"],
  ["verbosity-usage", "/verbosity endless"],
  ["rollover", "/rollover"],
  ["rollover-set", "/rollover idle 24h"],
  ["rollover-usage", "/rollover sometimes"],
  ["help", "/help"],
  ["unknown", "/newsletter ideas"],
];

/** Two facts about the person and one of a task. */
async function remembered(): Promise<Harness> {
  const lily = await twoSessions();
  await lily.send("/remember I prefer tea without milk", { deliveryId: "r1" });
  await lily.send("/remember Show me a plan before you write code --domain working-rules", {
    deliveryId: "r2",
  });
  await lily.send("/remember --task apollo the launch is on 3 June", { deliveryId: "r3" });
  return lily;
}

const memoryCases: readonly [name: string, text: string][] = [
  ["memory", "/memory"],
  ["memory-unknown", "/memory shwo"],
  ["memory-long-alone", "/memory long"],
  ["memory-evidence-alone", "/memory Evidence please"],
  ["memory-review-unknown", "/memory review accept deadbeef"],
  ["remember", "/remember my dog is called Rex --expires 30d"],
  ["remember-known", "/remember i prefer tea without milk."],
  ["remember-usage", "/remember"],
  ["remember-flag", "/remember x --domian user_profile"],
  ["remember-denied", "/remember my password is hunter2-Zebra!9"],
  ["memory-show", "/memory show"],
  ["memory-show-query", "/memory show tea"],
  ["memory-show-nothing", "/memory show submarine"],
  ["memory-long-show", "/memory long show --domain working_rules"],
  ["memory-long-task-show", "/memory long task show --namespace apollo"],
  ["memory-long-task-show-usage", "/memory long task show launch"],
  ["memory-short-show", "/memory short show"],
  ["memory-conflicts", "/memory conflicts"],
  ["memory-review", "/memory review"],
  ["memory-export", "/memory export"],
  ["why-fact", "/why 7e544698"],
  ["why-fact-unknown", "/why deadbeef"],
  ["task", "/task"],
  ["task-set", "/task apollo"],
  ["task-none", "/task none"],
  ["task-usage", "/task --namespace apollo"],
  ["forget", "/forget tea milk"],
  ["forget-preview", "/forget tea milk --dry-run"],
  ["forget-unknown", "/forget submarine"],
  ["forget-ambiguous", "/forget tea plan"],
  ["forget-everywhere", "/forget tea milk --everywhere"],
  ["forget-everywhere-preview", "/forget tea milk --everywhere --dry-run"],
  ["forget-everywhere-yes", "/forget tea milk --everywhere --yes"],
  ["forget-everywhere-usage", "/forget --everywhere"],
];

/** Gives commands in one home, until one changes something: what comes next has a home of its own. */
function inOneHome(make: () => Promise<Harness>) {
  let home: Harness | undefined;
  const close = async () => {
    await home?.close();
    home = undefined;
  };
  afterAll(close);
  return async (text: string) => {
    home ??= await make();
    const { turn, outcome, envelope } = await home.send(text, { deliveryId: "command" });
    if (turn !== null || outcome === "rotated") await close();
    return envelope;
  };
}

describe("the envelope of a command about memory is stable", () => {
  const give = inOneHome(remembered);
  it.each(memoryCases)("%s", async (name, text) => {
    const envelope = await give(text);
    await expect(`${JSON.stringify(envelope, null, 2)}\n`).toMatchFileSnapshot(`__golden__/${name}.json`);
  });
});

describe("the envelope of a command is stable", () => {
  const give = inOneHome(twoSessions);
  it.each(cases)("%s", async (name, text) => {
    const envelope = await give(text);
    await expect(`${JSON.stringify(envelope, null, 2)}\n`).toMatchFileSnapshot(`__golden__/${name}.json`);
  });
});

describe("a command with only read effects", () => {
  it("touches neither clock nor transcript nor chain, and does not wait for a turn that runs", async () => {
    const lily = await twoSessions();
    const before = await lily.chain();
    const turns = await lily.turns(before.latest);
    const lease = await lily.storage.locks.acquire(`turn/${OWNER}/test=3Amain`);
    for (const { name, kind, effects } of COMMANDS) {
      if (kind === "rotating" || effects.join() !== "reads") continue;
      const reply = await lily.send(`/${name}`);
      expect({ name, ...reply }).toMatchObject({ outcome: "command", turn: null, envelope: { ok: true } });
      expect(await lily.chain()).toEqual(before);
      expect(await lily.turns(before.latest)).toEqual(turns);
    }
    await lease.release();
    await lily.close();
  });

  it("answers before anything was said, and opens nothing", async () => {
    const lily = await start({ model: echoModel() });
    expect((await lily.send("/status")).envelope).toMatchObject({ ok: true, data: { turns: 0 } });
    expect((await lily.send("/history")).envelope).toMatchObject({ ok: true, data: { turns: [] } });
    expect(await lily.sessions.repository.listChains(OWNER)).toEqual([]);
  });
});

describe("a command that changes the session", () => {
  it("is committed as a turn that a model is not shown", async () => {
    const model = echoModel();
    const lily = await start({ model });
    const first = await lily.send("hello");
    const titled = await lily.send("/title Morning");
    expect(titled).toMatchObject({ outcome: "command", turn: 2, sessionId: first.sessionId });
    await lily.send("and then");
    expect(JSON.stringify(model.calls.at(-1)?.messages)).not.toContain("Morning");
    expect((await lily.send("/sessions")).envelope.data?.["sessions"]).toMatchObject([{ title: "Morning" }]);
    await lily.send("/new");
    expect((await lily.chain()).sessions.map((entry) => entry.title)).toEqual(["Morning", undefined]);
  });

  it("ends the session first when time says so", async () => {
    const lily = await start({ model: echoModel() });
    const first = await lily.send("hello");
    lily.clock.advance(13 * HOUR);
    const titled = await lily.send("/title Morning");
    expect(titled.sessionId).not.toBe(first.sessionId);
    expect(titled.announcement).toContain("13 h since the last turn");
  });
});
