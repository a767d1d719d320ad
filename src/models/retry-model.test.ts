import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import type { ModelFailure } from "./model-errors.ts";
import { MAX_ATTEMPTS, MAX_WAIT_MS, waitBeforeNext, withRetries, type RetryOptions } from "./retry-model.ts";
import { ModelStreamError } from "./stream-guard.ts";

const BUSY: ModelFailure = { kind: "overloaded", retryable: true, streamed: false, message: "busy" };
const busy = Object.assign(new Error("busy"), { status: 503 });

describe("waitBeforeNext", () => {
  it("doubles, and ends with the attempts", () => {
    expect([1, 2, 3].map((attempt) => waitBeforeNext(BUSY, attempt))).toEqual([500, 1000, undefined]);
  });

  it("is none where trying again cannot help, or would be seen", () => {
    expect(waitBeforeNext({ ...BUSY, retryable: false }, 1)).toBeUndefined();
    expect(waitBeforeNext({ ...BUSY, streamed: true }, 1)).toBeUndefined();
  });

  it("is what the server asks for, up to what a person waits", () => {
    expect(waitBeforeNext({ ...BUSY, retryAfterMs: MAX_WAIT_MS }, 1)).toBe(MAX_WAIT_MS);
    expect(waitBeforeNext({ ...BUSY, retryAfterMs: MAX_WAIT_MS + 1 }, 1)).toBeUndefined();
  });

  it("is never less than half its step nor longer than it", () => {
    const attempts = fc.integer({ min: 1, max: MAX_ATTEMPTS - 1 });
    fc.assert(
      fc.property(attempts, fc.double({ min: 0, max: 1, noNaN: true }), (attempt, random) => {
        const step = 500 * 2 ** (attempt - 1);
        const waitMs = waitBeforeNext(BUSY, attempt, random);
        expect(waitMs).toBeGreaterThanOrEqual(step / 2);
        expect(waitMs).toBeLessThanOrEqual(step);
      }),
    );
  });
});

describe("withRetries", () => {
  const sleep = async () => undefined;

  it("repeats until the call succeeds, telling of each failure", async () => {
    const kinds: string[] = [];
    const slept: number[] = [];
    const result = await withRetries(failingWith(busy, busy), {
      sleep: async (ms) => void slept.push(ms),
      onFailure: ({ kind }) => void kinds.push(kind),
    });
    expect([result, slept, kinds]).toEqual(["done", [500, 1000], ["overloaded", "overloaded"]]);
  });

  it("spreads the waits of many callers, and waits as long as the server asked, to the millisecond", async () => {
    const headers = new Headers({ "Retry-After": "3" });
    const asking = Object.assign(new Error("slow down"), { status: 429, headers });
    const slept: number[] = [];
    await withRetries(failingWith(busy, asking), {
      sleep: async (ms) => void slept.push(ms),
      random: () => 0.5,
    });
    expect(slept).toEqual([375, 3000]);
  });

  it("throws the last error as it was when the attempts are used, having told of each", async () => {
    const kinds: string[] = [];
    const call = vi.fn<() => Promise<string>>().mockRejectedValue(busy);
    const onFailure = ({ kind }: ModelFailure) => void kinds.push(kind);
    await expect(withRetries(call, { sleep, onFailure })).rejects.toBe(busy);
    expect(kinds).toEqual(["overloaded", "overloaded", "overloaded"]);
  });

  it("begins no wait that uses up the time that is left", async () => {
    const call = vi.fn<() => Promise<string>>().mockRejectedValue(busy);
    await expect(withRetries(call, { sleep, leftMs: () => 500 })).rejects.toBe(busy);
    expect(call).toHaveBeenCalledTimes(1);
    expect(await withRetries(failingWith(busy), { sleep, leftMs: () => 501 })).toBe("done");
  });

  it("does not repeat what the user has seen part of", async () => {
    const cut = new ModelStreamError("cut_stream", "cut", { streamed: true });
    const call = vi.fn<() => Promise<string>>().mockRejectedValue(cut);
    await expect(withRetries(call, { sleep })).rejects.toBe(cut);
    expect(call).toHaveBeenCalledTimes(1);
  });

  it("repeats a body that ended before anything of it was shown", async () => {
    expect(await withRetries(failingWith(new TypeError("terminated")), { sleep })).toBe("done");
  });

  it("makes no further attempt once it is aborted, and tells of none that the abort ended", async () => {
    const controller = new AbortController();
    const onFailure = vi.fn<NonNullable<RetryOptions["onFailure"]>>();
    const call = vi.fn<() => Promise<string>>().mockImplementation(async () => {
      controller.abort();
      throw busy;
    });
    await expect(withRetries(call, { sleep, onFailure, signal: controller.signal })).rejects.toBe(busy);
    expect([call.mock.calls.length, onFailure.mock.calls.length]).toEqual([1, 0]);
  });

  it.each<[string, NonNullable<RetryOptions["sleep"]>]>([
    ["stops waiting", async (_ms, signal) => signal?.throwIfAborted()],
    ["does not try again after a wait that ignored the abort", async () => undefined],
  ])("%s when it is aborted", async (_name, wait) => {
    const controller = new AbortController();
    const call = vi.fn<() => Promise<string>>().mockRejectedValue(busy);
    const aborting: RetryOptions["sleep"] = async (ms, signal) => {
      controller.abort(new Error("user stop"));
      await wait(ms, signal);
    };
    const retrying = withRetries(call, { sleep: aborting, signal: controller.signal });
    await expect(retrying).rejects.toThrow("user stop");
    expect(call).toHaveBeenCalledTimes(1);
  });
});

function failingWith(...errors: readonly Error[]): () => Promise<string> {
  const left = [...errors];
  return async () => {
    const error = left.shift();
    if (error !== undefined) throw error;
    return "done";
  };
}
