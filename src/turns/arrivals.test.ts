import { afterEach, describe, expect, it, vi } from "vitest";
import { configSchema } from "#src/app/config.ts";
import { sessionSettings } from "#src/app/session-settings.ts";
import { LilyError } from "#src/kernel/errors.ts";
import type { GraphRun } from "./runner.ts";
import { settle } from "./testing/fake-timer.ts";
import { createFakeTurns, type FakeTurns } from "./testing/fake-turns.ts";

afterEach(() => void vi.useRealTimers());

/** Runs that wait until they are let go, in order. */
function heldRuns() {
  const waiting: (() => void)[] = [];
  return {
    during: (): Promise<void> => new Promise((resolve) => waiting.push(resolve)),
    async letGo(): Promise<void> {
      waiting.shift()?.();
      await settle();
    },
  };
}

const contents = (turns: FakeTurns): unknown[] => turns.runs.map(({ content }) => content);

describe("a burst", () => {
  it("DL-10 is dispatched after its longest wait, however steadily messages come; each once and in order", async () => {
    const turns = createFakeTurns({ arrivals: { debounceMs: 2_000, maxWaitMs: 10_000 } });
    const sent = Array.from({ length: 60 }, (_unused, index) => String(index));
    const replies: Promise<unknown>[] = [];
    for (const text of sent) {
      replies.push(turns.send(text, `m${text}`));
      await turns.timer.advance(1_000);
    }
    await turns.timer.advance(2_000);
    await Promise.all(replies);
    expect(turns.runs[0]?.at).toBeLessThanOrEqual(10_000);
    expect(contents(turns).flatMap((content) => String(content).split("\n\n"))).toEqual(sent);
    expect(turns.runs.flatMap(({ ids }) => ids)).toEqual(sent.map((text) => `m${text}`));
    expect(turns.timer.pending).toBe(0);
  });

  it("becomes one turn after the quiet time, in queue mode too, and every caller gets the same reply", async () => {
    const turns = createFakeTurns({ arrivals: { debounceMs: 500 } });
    const first = turns.send("one", "a");
    await turns.timer.advance(499);
    const second = turns.send("two", "b");
    await turns.timer.advance(499);
    expect(turns.runs).toEqual([]);
    await turns.timer.advance(1);
    const [one, two] = await Promise.all([first, second]);
    expect(contents(turns)).toEqual(["one\n\ntwo"]);
    expect(one).toMatchObject({ deliveryId: "a", turn: 1, repeated: false });
    expect(two).toEqual({ ...one, deliveryId: "b" });
  });

  it("that /stop takes back while it waits is answered by nothing, and says so (F-10)", async () => {
    const turns = createFakeTurns({ arrivals: { debounceMs: 500 } });
    const replies = [turns.send("one", "a"), turns.send("two", "b")];
    await turns.timer.advance(499);
    const stopped = await turns.send("/stop", "s");
    expect(stopped).toMatchObject({ outcome: "command", envelope: { ok: true, code: "answer_stopped" } });
    await turns.timer.advance(1_000);
    for (const reply of await Promise.all(replies))
      expect(reply).toMatchObject({ outcome: "failed", turn: null, envelope: { code: "turn_stopped" } });
    expect(turns.runs).toEqual([]);
  });

  it("is answered, and its other callers are told what happens, when the listener of one throws", async () => {
    const turns = createFakeTurns({
      arrivals: { debounceMs: 500 },
      during: async ({ onEvent }) => onEvent?.({ type: "token", text: "x" }),
    });
    const onEvent = (): void => {
      throw new Error("the pipe is closed");
    };
    const heard: string[] = [];
    const replies = [
      turns.send("one", "a", { onEvent }),
      turns.send("two", "b", { onEvent: ({ type }) => void heard.push(type) }),
    ];
    await turns.timer.advance(500);
    expect(await Promise.all(replies)).toMatchObject([{ turn: 1 }, { turn: 1 }]);
    expect(heard).toEqual(["session", "token"]);
  });

  it("leaves what does not fit to the next turn", async () => {
    const turns = createFakeTurns({ arrivals: { debounceMs: 500 } });
    const texts = ["a".repeat(40), "b".repeat(58), "c"];
    const replies = texts.map((text, index) => turns.send(text, `m${index}`));
    await turns.timer.advance(500);
    await Promise.all(replies);
    expect(contents(turns)).toEqual([texts.slice(0, 2).join("\n\n"), "c"]);
  });

  it("in queue mode waits for its own turn when one runs, and is not joined to what comes after it", async () => {
    const held = heldRuns();
    const turns = createFakeTurns({ arrivals: { debounceMs: 500 }, during: held.during });
    const replies = [turns.send("one", "a")];
    await turns.timer.advance(500);
    replies.push(turns.send("two", "b"));
    await turns.timer.advance(500);
    replies.push(turns.send("three", "c"));
    await turns.timer.advance(500);
    await held.letGo();
    await held.letGo();
    await held.letGo();
    await Promise.all(replies);
    expect(contents(turns)).toEqual(["one", "two", "three"]);
  });

  it("lets a caller leave who stops before its turn began, and is dropped when all have left", async () => {
    const turns = createFakeTurns({ arrivals: { debounceMs: 500 } });
    const stop = new AbortController();
    const leaving = turns.send("one", "a", { stop: stop.signal });
    const staying = turns.send("two", "b");
    await settle();
    stop.abort();
    expect(await leaving).toMatchObject({ outcome: "failed", envelope: { code: "turn_stopped" } });
    await turns.timer.advance(500);
    await staying;
    const alone = new AbortController();
    const last = turns.send("three", "c", { stop: alone.signal });
    await settle();
    alone.abort();
    expect(await last).toMatchObject({ envelope: { code: "turn_stopped" } });
    await turns.timer.advance(1_000);
    expect(contents(turns)).toEqual(["two"]);
  });
});

describe("messages that arrive while a turn runs", () => {
  const collecting = () => {
    const held = heldRuns();
    return { held, turns: createFakeTurns({ arrivals: { mode: "collect" }, during: held.during }) };
  };

  it("become one turn with `collect`, whose reply all get", async () => {
    const { held, turns } = collecting();
    const replies = [turns.send("one", "a")];
    await settle();
    replies.push(turns.send("two", "b"), turns.send("three", "c"));
    await held.letGo();
    await held.letGo();
    const all = await Promise.all(replies);
    expect(contents(turns)).toEqual(["one", "two\n\nthree"]);
    expect(all.map(({ turn, deliveryId }) => [turn, deliveryId])).toEqual([
      [1, "a"],
      [2, "b"],
      [2, "c"],
    ]);
  });

  it("are told the notices of the turn that answers them", async () => {
    const turns = createFakeTurns({
      arrivals: { mode: "collect" },
      adjust: (deps) => ({ ...deps, takeDropped: () => true }),
    });
    for (const reply of await Promise.all([turns.send("one", "a"), turns.send("two", "b")]))
      expect(reply).toMatchObject({ turn: 1, notice: expect.stringContaining("was dropped") });
  });

  it("leave a command its place", async () => {
    const { held, turns } = collecting();
    const replies = [turns.send("one", "a")];
    await settle();
    replies.push(turns.send("two", "b"), turns.send("/title x", "t"), turns.send("three", "c"));
    for (let turn = 0; turn < 4; turn += 1) await held.letGo();
    await Promise.all(replies);
    expect(contents(turns)).toEqual(["one", "two", "/title x", "three"]);
  });

  it("tell everyone who waits that they do, those too who come later", async () => {
    const { held, turns } = collecting();
    const events: string[] = [];
    const listen = (name: string) => ({
      onEvent: ({ type }: { type: string }) => events.push(`${name} ${type}`),
    });
    const replies = [turns.send("one", "a")];
    await settle();
    replies.push(turns.send("two", "b", listen("b")));
    await settle();
    replies.push(turns.send("three", "c", listen("c")));
    expect(events).toEqual(["b waiting", "c waiting"]);
    await held.letGo();
    await held.letGo();
    await Promise.all(replies);
    expect(events.slice(2)).toEqual(["b session", "c session"]);
  });

  it("that were handled before are answered from what is stored and not collected", async () => {
    const { held, turns } = collecting();
    const first = turns.send("one", "a");
    await settle();
    const late = [turns.send("one", "a"), turns.send("two", "b"), turns.send("other", "a")];
    await held.letGo();
    await held.letGo();
    const [again, fresh, conflict] = await Promise.all(late);
    expect(again).toEqual({ ...(await first), repeated: true });
    expect(fresh).toMatchObject({ turn: 2, repeated: false });
    expect(conflict).toMatchObject({ outcome: "refused", envelope: { code: "delivery_conflict" } });
    expect(contents(turns)).toEqual(["one", "two"]);
  });

  it("are one message when they have one id, and refused when it has two texts", async () => {
    const { held, turns } = collecting();
    const first = turns.send("one", "a");
    await settle();
    const late = [turns.send("two", "b"), turns.send("two", "b"), turns.send("else", "b")];
    await held.letGo();
    await held.letGo();
    await first;
    const [one, twin, other] = await Promise.all(late);
    expect(one).toMatchObject({ turn: 2, repeated: false });
    expect(twin).toEqual({ ...one, repeated: true });
    expect(other).toMatchObject({ outcome: "refused", envelope: { code: "delivery_conflict" } });
    expect(contents(turns)).toEqual(["one", "two"]);
  });
});

describe("a burst that the storage has no time for", () => {
  const busy = () => new LilyError("storage_busy", "the file is locked");
  const failing = (times: number) => {
    let failures = 0;
    return async (_run: GraphRun): Promise<void> => {
      failures += 1;
      if (failures <= times) throw busy();
    };
  };

  it("DL-12 is tried again, its messages once and in order, before those that came later", async () => {
    const turns = createFakeTurns({ arrivals: { mode: "collect", debounceMs: 100 }, during: failing(2) });
    const replies = [turns.send("m1", "1"), turns.send("m2", "2")];
    await turns.timer.advance(100);
    replies.push(turns.send("m3", "3"));
    await turns.timer.advance(10_000);
    const all = await Promise.all(replies);
    expect(all.map(({ turn }) => turn)).toEqual([1, 1, 2]);
    expect(contents(turns)).toEqual(["m1\n\nm2", "m1\n\nm2", "m1\n\nm2", "m3"]);
  });

  it("DL-12 is told to every caller after the last try, and goes through when it is sent again", async () => {
    const turns = createFakeTurns({ arrivals: { mode: "collect" }, during: failing(4) });
    const replies = [turns.send("m1", "1"), turns.send("m2", "2")];
    await turns.timer.advance(60_000);
    expect(await Promise.all(replies)).toMatchObject([
      { outcome: "failed", deliveryId: "1", turn: null, envelope: { code: "storage_busy" } },
      { outcome: "failed", deliveryId: "2", turn: null, envelope: { code: "storage_busy" } },
    ]);
    expect(turns.runs).toHaveLength(4);
    expect(await turns.send("m1", "1")).toMatchObject({ turn: 1, repeated: false });
  });

  it("is not tried again for any other failure", async () => {
    const turns = createFakeTurns({
      arrivals: { mode: "collect" },
      during: () => Promise.reject(new LilyError("model_failed", "down")),
    });
    expect(await turns.send("m1", "1")).toMatchObject({
      outcome: "failed",
      envelope: { code: "model_failed" },
    });
    expect(turns.runs).toHaveLength(1);
    expect(turns.timer.pending).toBe(0);
  });
});

describe("a message that interrupts", () => {
  it("gives up in words when the turn that it stopped does not end, and leaves nothing behind", async () => {
    const held = heldRuns();
    const turns = createFakeTurns({
      arrivals: { mode: "interrupt", stopWaitMs: 5_000 },
      during: held.during,
    });
    const first = turns.send("one", "a");
    await settle();
    const second = turns.send("two", "b");
    await turns.timer.advance(4_999);
    expect(turns.deps.stops.runningOn("turn/local/k")?.stop.signal.aborted).toBe(true);
    await turns.timer.advance(1);
    expect(await second).toMatchObject({
      outcome: "failed",
      envelope: { code: "lease_timeout", message: expect.stringContaining("was stopped and had not ended") },
    });
    await held.letGo();
    await first;
    expect(contents(turns)).toEqual(["one"]);
    expect(turns.timer.pending).toBe(0);
  });

  it("waits as long as it takes once the stopped turn has ended and another is before it", async () => {
    const held = heldRuns();
    const turns = createFakeTurns({
      arrivals: { mode: "interrupt", stopWaitMs: 5_000 },
      during: held.during,
    });
    const replies = [turns.send("one", "a")];
    await settle();
    replies.push(turns.send("/title x", "t"));
    await settle();
    replies.push(turns.send("two", "b"));
    await settle();
    await held.letGo();
    await turns.timer.advance(30_000);
    await held.letGo();
    await held.letGo();
    expect((await Promise.all(replies)).map(({ turn }) => turn)).toEqual([1, 2, 3]);
  });

  it("does not stop the turn that answers the same delivery", async () => {
    const held = heldRuns();
    const turns = createFakeTurns({ arrivals: { mode: "interrupt" }, during: held.during });
    const first = turns.send("one", "a");
    await settle();
    const again = turns.send("one", "a");
    await turns.timer.advance(50_000);
    expect(turns.deps.stops.runningOn("turn/local/k")?.stop.signal.aborted).toBe(false);
    await held.letGo();
    expect(await again).toEqual({ ...(await first), repeated: true });
    expect(turns.runs).toHaveLength(1);
  });

  it("stops nothing when it was answered before", async () => {
    const held = heldRuns();
    const turns = createFakeTurns({ arrivals: { mode: "interrupt" }, during: held.during });
    const first = turns.send("one", "a");
    await settle();
    await held.letGo();
    const running = turns.send("two", "b");
    await settle();
    const again = turns.send("one", "a");
    await settle();
    expect(turns.deps.stops.runningOn("turn/local/k")?.stop.signal.aborted).toBe(false);
    await held.letGo();
    await running;
    expect(await again).toEqual({ ...(await first), repeated: true });
    expect(contents(turns)).toEqual(["one", "two"]);
  });
});

const policyOf = (config: object, sessionKey = "cli:main") =>
  sessionSettings(configSchema.parse(config), {}, { machineZone: () => "UTC" }).arrivalsOf(sessionKey);

describe("the rule for messages that arrive during a turn", () => {
  it("is by default that each waits for its own turn", () => {
    expect(policyOf({})).toEqual({ mode: "queue", debounceMs: 0, maxWaitMs: 10_000, stopWaitMs: 10_000 });
  });

  it("is taken from the configuration, then from the prefixes of the key, the longest last", () => {
    const config = {
      arrivals: { mode: "collect", debounceMs: 100 },
      keys: [
        { prefix: "tg:dm:", arrivals: { mode: "interrupt" } },
        { prefix: "tg:", arrivals: { mode: "queue", maxWaitMs: 5_000 } },
        { prefix: "tg:dm:", rollover: { idle: { limit: "2h" } } },
      ],
    };
    expect(policyOf(config)).toMatchObject({ mode: "collect", debounceMs: 100 });
    expect(policyOf(config, "tg:group:1")).toMatchObject({ mode: "queue", debounceMs: 100 });
    expect(policyOf(config, "tg:dm:1")).toMatchObject({ mode: "interrupt", maxWaitMs: 5_000 });
  });

  it("keeps the rollover of a prefix that has both", () => {
    const rule = { prefix: "tg:", rollover: { idle: { limit: "2h" } }, arrivals: { mode: "collect" } };
    const settings = sessionSettings(configSchema.parse({ keys: [rule] }), {}, { machineZone: () => "UTC" });
    expect(settings.policies.byKeyPrefix).toMatchObject([
      { prefix: "tg:", rollover: { idle: { limit: 7_200_000 } } },
    ]);
  });

  it.each([
    ["a mode that does not exist", { mode: "drop" }],
    ["a time below zero", { debounceMs: -1 }],
    ["a wait for a stopped turn that none can meet", { stopWaitMs: 0 }],
    ["a part that does not exist", { debounce: 1 }],
  ])("refuses %s", (_what, arrivals) => {
    expect(configSchema.safeParse({ arrivals }).success).toBe(false);
    expect(configSchema.safeParse({ keys: [{ prefix: "x", arrivals }] }).success).toBe(false);
  });
});
