import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createManualClock, fromInstant, orAborted, timeLimit, toInstant } from "./clock.ts";

const LIMIT = 8.64e15;

describe("a manual clock", () => {
  it("stands still until it is told to move", () => {
    const clock = createManualClock(1000);
    expect([clock.now(), clock.now(), clock.monotonic()]).toEqual([1000, 1000, 0]);
  });

  it("moves wall and monotonic time together", () => {
    const clock = createManualClock(1000);
    clock.advance(250);
    expect([clock.now(), clock.monotonic()]).toEqual([1250, 250]);
  });

  it("keeps monotonic time when the wall clock is set back", () => {
    const clock = createManualClock(1000);
    clock.advance(10);
    clock.set(5);
    expect([clock.now(), clock.monotonic()]).toEqual([5, 10]);
    clock.advance(1);
    expect([clock.now(), clock.monotonic()]).toEqual([6, 11]);
  });

  it("is independent of another one", () => {
    const [one, other] = [createManualClock(0), createManualClock(0)];
    one.advance(1);
    expect(other.now()).toBe(0);
  });
});

describe("a stored instant", () => {
  it("is ISO 8601 in UTC with milliseconds", () => {
    expect(toInstant(Date.UTC(2026, 2, 1, 9, 0, 0, 7))).toBe("2026-03-01T09:00:00.007Z");
  });

  it("reads back as the same millisecond, over all time that has an instant", () => {
    fc.assert(
      fc.property(fc.integer({ min: -LIMIT, max: LIMIT }), (ms) => {
        expect(fromInstant(toInstant(ms))).toBe(ms);
      }),
    );
  });

  it("sorts as text as it does in time, within four-digit years", () => {
    const year10000 = Date.UTC(10_000, 0) - 1;
    const ms = fc.integer({ min: 0, max: year10000 });
    fc.assert(
      fc.property(ms, ms, (a, b) => {
        expect(toInstant(a) < toInstant(b)).toBe(a < b);
      }),
    );
  });

  it.each(["", "yesterday", "2026-13-01T00:00:00.000Z", "2026-03-01T25:00:00.000Z"])(
    "is NaN when %j is read",
    (text) => {
      expect(fromInstant(text)).toBeNaN();
    },
  );

  it.each([NaN, Infinity, LIMIT + 1])("cannot be made of %d", (ms) => {
    expect(() => toInstant(ms)).toThrow(RangeError);
  });
});

const never = new Promise<never>(() => undefined);

describe("orAborted", () => {
  it("gives what the work gives or throws while nothing is aborted", async () => {
    const { signal } = new AbortController();
    expect(await orAborted(Promise.resolve(1), { signal })).toBe(1);
    await expect(orAborted(Promise.reject(new Error("broken")), { signal })).rejects.toThrow("broken");
  });

  it("ends with the reason of the abort, also one that came before, and does not wait for the work", async () => {
    const controller = new AbortController();
    const waiting = orAborted(never, { signal: controller.signal });
    controller.abort(new Error("the user"));
    await expect(waiting).rejects.toThrow("the user");
    await expect(orAborted(never, { signal: controller.signal })).rejects.toThrow("the user");
  });

  it("gives an abort error where the reason is none", async () => {
    await expect(orAborted(never, { signal: AbortSignal.abort("why not") })).rejects.toMatchObject({
      name: "AbortError",
    });
  });

  it("lets aborted work end by itself within its grace, and no longer", async () => {
    const controller = new AbortController();
    let finish: (value: string) => void = () => undefined;
    const work = new Promise<string>((resolve) => (finish = resolve));
    const kept = orAborted(work, { signal: controller.signal, grace: () => never });
    controller.abort();
    finish("what there was");
    expect(await kept).toBe("what there was");

    const left = orAborted(never, { signal: controller.signal, grace: async () => undefined });
    await expect(left).rejects.toMatchObject({ name: "AbortError" });
  });

  it("ends the wait of the grace when the work has ended", async () => {
    const controller = new AbortController();
    let given: AbortSignal | undefined;
    const grace = (ended: AbortSignal) => {
      given = ended;
      return never;
    };
    controller.abort();
    await orAborted(Promise.resolve("done"), { signal: controller.signal, grace });
    expect(given?.aborted).toBe(true);
  });
});

describe("a time limit", () => {
  it("ends what waits for one of several signals, also when memory is collected meanwhile", async () => {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    const collecting = setInterval(collect, 20);
    const signal = AbortSignal.any([new AbortController().signal, timeLimit(100)]);
    const never = new Promise<void>(() => undefined);
    try {
      await expect(orAborted(never, { signal })).rejects.toMatchObject({ name: "TimeoutError" });
    } finally {
      clearInterval(collecting);
    }
  });
});
