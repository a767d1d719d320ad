/** Conversations of which turns were erased: they go on, and what was said comes back from nowhere. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { erasePartsFromChain } from "#src/sessions/redaction.ts";
import { verifyOwner } from "#src/sessions/verify.ts";
import { echoModel, inputOf, KEY, latestOf, OWNER, type Harness } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";
import type { SessionStateValues } from "./state.ts";

const start = harnessStarter();
const REF = { owner: OWNER, sessionKey: KEY };
const AT = "2026-03-02T09:00:00.000Z";

async function erase(lily: Harness, ...turns: number[]): Promise<string> {
  const { sessionId } = latestOf(await lily.chain());
  await lily.sessions.repository.redactTurns(
    REF,
    turns.map((turn) => ({ sessionId, turn })),
    AT,
  );
  return sessionId;
}

async function verified(lily: Harness, erased: number): Promise<void> {
  expect(await verifyOwner(lily.sessions.repository, OWNER)).toMatchObject({
    ok: true,
    problems: [],
    erased: { turns: erased },
  });
}

describe("a delivery whose turn was erased", () => {
  it("is told so when it comes again, and is not answered a second time", async () => {
    const model = echoModel();
    const lily = await start({ model });
    await lily.send("my pin is 4711", { deliveryId: "d1" });
    await erase(lily, 1);
    for (const text of ["my pin is 4711", "another text"])
      expect(await lily.send(text, { deliveryId: "d1" })).toMatchObject({
        outcome: "answered",
        repeated: true,
        turn: 1,
        status: null,
        envelope: { ok: true, code: "turn_erased", data: { erasedAt: AT } },
      });
    expect(model.calls).toHaveLength(1);
    expect(await lily.turns(latestOf(await lily.chain()).sessionId)).toEqual([]);
    await verified(lily, 1);
  });

  it("is known when it was a command", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("/title my pin is 4711", { deliveryId: "d1" });
    await erase(lily, 1);
    expect(await lily.send("/title my pin is 4711", { deliveryId: "d1" })).toMatchObject({
      outcome: "command",
      repeated: true,
      envelope: { code: "turn_erased" },
    });
  });

  it("does not rotate again when it was /new with a text", async () => {
    const model = echoModel();
    const lily = await start({ model });
    await lily.send("hello");
    await lily.send("/new my pin is 4711", { deliveryId: "d2" });
    await erase(lily, 1);
    const again = await lily.send("/new my pin is 4711", { deliveryId: "d2" });
    expect(again).toMatchObject({ repeated: true, envelope: { code: "turn_erased" } });
    const chain = await lily.chain();
    expect(chain.sessions).toHaveLength(2);
    expect(latestOf(chain).opened.textHash).toBeUndefined();
    expect(model.calls).toHaveLength(2);
  });
});

describe("a conversation of which turns were erased", () => {
  it("goes on without them, in a process that had read them as well", async () => {
    const model = echoModel();
    const lily = await start({ model });
    for (const text of ["one", "my pin is 4711", "three"]) await lily.send(text);
    await erase(lily, 2);
    expect(await lily.send("four")).toMatchObject({ turn: 4 });
    expect(inputOf(model)).toEqual(["human: one", "ai: one", "human: three", "ai: three", "human: four"]);
    await lily.restart();
    await lily.send("five");
    expect(inputOf(model).join()).not.toContain("4711");
    await verified(lily, 1);
  });

  it.each([
    ["the newest", [3]],
    ["all", [1, 2, 3]],
  ])(
    "takes the next number after %s were erased, also when its checkpoints are gone",
    async (_which, turns) => {
      const lily = await start({ model: echoModel() });
      for (const text of ["one", "two", "three"]) await lily.send(text);
      const sessionId = await erase(lily, ...turns);
      await lily.storage.checkpointer.deleteThread(sessionId);
      await lily.restart();
      expect(await lily.send("four")).toMatchObject({ turn: 4, sessionId });
      await verified(lily, turns.length);
    },
  );

  it("keeps what commands changed in it when it is made anew, but for titles", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("/rollover idle 5h");
    await lily.send("/title my pin is 4711");
    const sessionId = await erase(lily, 1, 2);
    await lily.storage.checkpointer.deleteThread(sessionId);
    await lily.restart();
    await lily.send("hello");
    const { envelope } = await lily.send("/status");
    expect(envelope.data).toMatchObject({ title: null });
    expect(JSON.stringify(envelope)).toContain("5 h");
    await lily.send("/new");
    expect(JSON.stringify(await lily.chain())).not.toContain("4711");
    await verified(lily, 2);
  });

  it("shows in /history that something was erased and when, and in /sessions no title of it", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("my pin is 4711");
    await lily.send("two");
    await erase(lily, 1);
    const { envelope } = await lily.send("/history");
    expect(envelope.data?.["turns"]).toMatchObject([
      { turn: 1, status: "erased", erasedAt: "2026-03-02 09:00", messages: [] },
      { turn: 2, status: "completed" },
    ]);
    expect(JSON.stringify(await lily.send("/sessions"))).not.toContain("4711");
    await lily.send("/new");
    expect((await lily.send("/recall pin 4711")).envelope.message).toMatch(/^Nothing that was said earlier/u);
  });

  it("can lose the title of a session that was ended, and its seal verifies", async () => {
    const lily = await start({ model: echoModel() });
    await lily.send("/title my pin is 4711");
    await lily.send("/new");
    const { repository } = lily.sessions;
    const chain = await lily.chain();
    await repository.writeChain(erasePartsFromChain(chain, (text) => text.includes("4711"), AT));
    expect(JSON.stringify(await lily.chain())).not.toContain("4711");
    expect(await verifyOwner(repository, OWNER)).toMatchObject({ ok: true, erased: { titles: 1 } });
    await lily.send("goes on");
    await lily.send("/new");
    expect(await verifyOwner(repository, OWNER)).toMatchObject({ ok: true, erased: { titles: 1 } });
  });
});

describe("a run from an old checkpoint", () => {
  it("never takes the number of a turn that was erased", async () => {
    const lily = await start({ model: echoModel() });
    for (const text of ["one", "two"]) await lily.send(text);
    const sessionId = await erase(lily, 2);
    const config = await checkpointOf(lily, sessionId, ({ session }, next) => {
      return session?.turns === 1 && next.length === 0;
    });
    const message = { role: "user", content: "other two", id: "id" };
    await lily.sessions.graph.invoke({ messages: [message] }, { ...config, context: CONTEXT });
    expect((await lily.chain()).sessions.map(({ sealed }) => sealed?.turns)).toEqual([2, undefined]);
    await verified(lily, 1);
  });
});

const CONTEXT = { owner: OWNER, sessionKey: KEY, followsHandoff: true, fence: undefined };

/** The newest checkpoint of a thread for which `wanted` holds. */
async function checkpointOf(
  lily: Harness,
  threadId: string,
  wanted: (values: SessionStateValues, next: readonly string[]) => boolean,
) {
  const thread = { configurable: { thread_id: threadId } };
  for await (const { config, next, values } of lily.sessions.graph.getStateHistory(thread))
    if (wanted(values as SessionStateValues, next)) return config;
  throw new Error("there is no such checkpoint");
}

describe("files of an earlier version", () => {
  it("lose turns and keep seals that verify", async () => {
    const lily = await start({ model: echoModel(), prepare: copyEarlierHome });
    const { repository } = lily.sessions;
    const sealed = (await lily.chain()).sessions[0]?.sessionId ?? "";
    const turns = [1, 2].map((turn) => ({ sessionId: sealed, turn }));
    expect(await repository.redactTurns(REF, turns, AT)).toEqual({ redacted: 2 });
    await verified(lily, 2);
    await lily.send("hello?");
    await verified(lily, 2);
  });
});

function copyEarlierHome(folder: string): void {
  for (const [packed, path] of [
    ["checkpointer.sqlite.gz", "checkpoints/checkpointer.sqlite"],
    ["store.sqlite.gz", "memory/store.sqlite"],
  ] as const) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    const source = new URL(`testing/home-0.1.0/${packed}`, import.meta.url);
    writeFileSync(join(folder, path), gunzipSync(readFileSync(source)));
  }
}
