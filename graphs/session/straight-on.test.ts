/** The straight way of a turn: what fails on it takes its own step, and nothing is lost, doubled or told twice. */
import { describe, expect, it, vi } from "vitest";
import { BaseStore, type Operation, type OperationResults } from "@langchain/langgraph-checkpoint";
import { LilyError } from "#src/kernel/errors.ts";
import type { StorageBackend } from "#src/storage/backend.ts";
import type { TurnEvent } from "#src/turns/runner.ts";
import { echoModel, KEY, OWNER, type HarnessOptions } from "./testing/harness.ts";
import { failingPuts } from "./testing/failing-store.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();
const stepping: NonNullable<HarnessOptions["adjust"]> = (deps) => ({ ...deps, goesStraightOn: false });
const gone = (): LilyError => new LilyError("storage_failed", "the connection was lost");

/** A store that makes the next put of a turn, reports it as failed, and fails the look at what became of it. */
function loses() {
  let state: "off" | "armed" | "lost" = "off";
  class Losing extends BaseStore {
    readonly #inner: BaseStore;
    constructor(inner: BaseStore) {
      super();
      this.#inner = inner;
    }
    override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
      const isTurn = operations.some((one) => "value" in one && one.namespace[0] === "history");
      if (state === "lost") {
        state = "off";
        throw gone();
      }
      const results = await this.#inner.batch(operations);
      if (state !== "armed" || !isTurn) return results;
      state = "lost";
      throw gone();
    }
  }
  return {
    arm: () => void (state = "armed"),
    wrap: (storage: StorageBackend): StorageBackend => ({
      ...storage,
      fencedStore: (lease) => new Losing(storage.fencedStore(lease)),
    }),
  };
}

describe("a commit on the straight way", () => {
  it("counts once when its put was made, was reported as failed, and could not be looked for", async () => {
    const losing = loses();
    const lily = await start({ model: echoModel(), wrapStorage: losing.wrap });
    const { sessionId } = await lily.send("one");
    losing.arm();
    const reply = await lily.send("two", { deliveryId: "d2" });
    expect(reply).toMatchObject({ outcome: "answered", turn: 2, envelope: { message: "two" } });
    expect((await lily.turns(sessionId)).map(({ deliveryId }) => deliveryId).slice(1)).toEqual(["d2"]);
    expect(await lily.send("three")).toMatchObject({ outcome: "answered", turn: 3 });
  });

  it("is tried again in its own step, and told as failed there", async () => {
    const failing = failingPuts(([root]) => root === "history");
    const lily = await start({ model: echoModel(), wrapStorage: failing.wrap });
    const { sessionId } = await lily.send("one");
    failing.arm();
    expect(await lily.send("two", { deliveryId: "d2" })).toMatchObject({
      outcome: "failed",
      envelope: { code: "storage_full" },
    });
    failing.disarm();
    const failures = await lily.sessions.repository.readFailures({
      owner: OWNER,
      sessionKey: KEY,
      sessionId,
    });
    expect(failures).toMatchObject([{ deliveryId: "d2", node: "commit" }]);
    expect(await lily.send("two", { deliveryId: "d2" })).toMatchObject({ outcome: "answered", turn: 2 });
  });
});

describe("the straight way", () => {
  const picture = [
    { type: "text", text: "what is this?" },
    { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" },
  ];

  /** A conversation of every kind of plain turn, and what is left of it: replies, transcript, state, events. */
  async function converse(options: HarnessOptions, contents: readonly unknown[]) {
    const lily = await start(options);
    const seen: unknown[] = [];
    for (const [index, content] of contents.entries()) {
      lily.clock.advance(60_000);
      const events: TurnEvent[] = [];
      const onEvent = (event: TurnEvent): void => void (event.type === "session" || events.push(event));
      // Every other one is sent by somebody who does not listen.
      const listening = index % 2 === 0 ? { onEvent } : {};
      seen.push(await lily.send(content, { deliveryId: `d${index}`, ...listening }), events);
    }
    const { latest } = await lily.chain();
    const { values } = await lily.sessions.graph.getState({ configurable: { thread_id: latest } });
    return plain([seen, await lily.turns(latest), values]);
  }

  it.each<[string, HarnessOptions, readonly unknown[]]>([
    [
      "with a model",
      { model: echoModel() },
      ["one", picture, "/model scripted:test", "/new", "two", "three"],
    ],
    ["without one", {}, ["my flight is BA117", "what is my flight?", "/new and now?", "what is my flight?"]],
    [
      "in legacy mode",
      { model: echoModel(), config: { lifecycle: { mode: "legacy" } } },
      ["one", "/new two", "/new", "3"],
    ],
    [
      "with a small window",
      { model: echoModel(), config: { limits: { windowCharacters: 9 } } },
      ["one", "two", "three"],
    ],
    [
      "with an idle limit",
      { model: echoModel(), config: { rollover: { idle: { limit: "60s" } } } },
      ["one", "two", "three"],
    ],
    ["without calls left", { model: echoModel(), config: { limits: { modelCalls: 1 } } }, ["one", "two"]],
  ])("comes to what the steps of the diagram come to %s", async (_how, options, contents) => {
    const straight = await converse(options, contents);
    expect(straight).toEqual(await converse({ ...options, adjust: stepping }, contents));
  });
});

describe("a conversation whose state lags", () => {
  it("goes on when what it had missed falls out of the window in the step that brings it", async () => {
    const lily = await start({ model: echoModel(), config: { limits: { windowCharacters: 9 } } });
    await lily.send("one");
    const put = vi.spyOn(lily.storage.checkpointer, "put").mockImplementation(async (config) => config);
    await lily.send("two");
    put.mockRestore();
    await lily.restart();
    const outcomes = [await lily.send("three"), await lily.send("four"), await lily.send("five")];
    expect(outcomes.map(({ outcome, turn }) => [outcome, turn])).toEqual([
      ["answered", 3],
      ["answered", 4],
      ["answered", 5],
    ]);
    const { latest } = await lily.chain();
    const { values } = await lily.sessions.graph.getState({ configurable: { thread_id: latest } });
    expect(values.messages.map(({ content }: { content: unknown }) => content)).toEqual(["five", "five"]);
  });
});

describe("what is said before the answer", () => {
  it.each<[string, NonNullable<HarnessOptions["adjust"]>]>([
    ["on the straight way", (deps) => deps],
    ["in its own step", stepping],
  ])("is told once to who listens, %s", async (_how, adjust) => {
    const lily = await start({ adjust });
    const told: string[] = [];
    await lily.send("hello", { onEvent: ({ type }) => void told.push(type) });
    expect(told).toEqual(["session", "notice"]);
  });
});

/** As data, with each id that was made up at random by when it came first. */
function plain(value: unknown): unknown {
  const ids = new Map<string, string>();
  const text = JSON.stringify(value).replaceAll(/[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/gu, (id) => {
    if (!ids.has(id)) ids.set(id, `id ${ids.size}`);
    return ids.get(id) ?? "";
  });
  return JSON.parse(text);
}
