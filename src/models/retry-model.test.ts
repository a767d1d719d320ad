import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import type { ModelFailure } from "./model-errors.ts";
import { DEFAULT_RETRY_LIMITS, decideRetry, withRetries, type RetryOptions } from "./retry-model.ts";
import { ModelStreamError } from "./stream-error.ts";

const BUSY: ModelFailure = { kind: "overloaded", retryable: true, streamed: false, message: "busy" };
const busy = Object.assign(new Error("busy"), { status: 503 });

describe("decideRetry", () => {
  it("doubles the wait up to the cap", () => {
    const limits = { attempts: 9, baseDelayMs: 500, maxDelayMs: 3000 };
    const waits = [1, 2, 3, 4, 5].map((attempt) => decideRetry(BUSY, attempt, { limits }));
    expect(waits.map((verdict) => verdict.action === "retry" && verdict.delayMs)).toEqual([
      500, 1000, 2000, 3000, 3000,
    ]);
  });

  it("stops with its reason", () => {
    expect(decideRetry({ ...BUSY, retryable: false }, 1)).toEqual({
      action: "stop",
      reason: "not_retryable",
    });
    expect(decideRetry(BUSY, 3)).toEqual({ action: "stop", reason: "attempts_used" });
    const patient = { ...BUSY, retryAfterMs: DEFAULT_RETRY_LIMITS.maxDelayMs };
    expect(decideRetry(patient, 1)).toEqual({ action: "retry", delayMs: DEFAULT_RETRY_LIMITS.maxDelayMs });
    const tooPatient = { ...BUSY, retryAfterMs: DEFAULT_RETRY_LIMITS.maxDelayMs + 1 };
    expect(decideRetry(tooPatient, 1)).toEqual({ action: "stop", reason: "wait_too_long" });
  });

  it("begins no wait that uses up the time that is left", () => {
    const patient = { ...BUSY, retryAfterMs: 9000 };
    expect(decideRetry(patient, 1, { leftMs: 9001 })).toEqual({ action: "retry", delayMs: 9000 });
    expect(decideRetry(patient, 1, { leftMs: 9000 })).toEqual({ action: "stop", reason: "no_time_left" });
    expect(decideRetry(BUSY, 1, { leftMs: -1 })).toEqual({ action: "stop", reason: "no_time_left" });
  });

  it("never waits less than half its step nor longer than the cap", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 50 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (attempt, random) => {
          const limits = { attempts: 100, baseDelayMs: 500, maxDelayMs: 30_000 };
          const verdict = decideRetry(BUSY, attempt, { limits, random });
          const step = Math.min(500 * 2 ** (attempt - 1), 30_000);
          const delayMs = verdict.action === "retry" ? verdict.delayMs : Number.NaN;
          expect(delayMs).toBeGreaterThanOrEqual(step / 2);
          expect(delayMs).toBeLessThanOrEqual(step);
        },
      ),
    );
  });
});

describe("withRetries", () => {
  it("repeats until the call succeeds, telling of each repetition", async () => {
    const onRetry = vi.fn<NonNullable<RetryOptions["onRetry"]>>();
    const slept: number[] = [];
    const result = await withRetries(failingTimes(2), { sleep: async (ms) => void slept.push(ms), onRetry });
    expect(result).toBe("attempt 3");
    expect(slept).toEqual([500, 1000]);
    expect(onRetry.mock.calls.map(([event]) => [event.attempt, event.failure.kind])).toEqual([
      [1, "overloaded"],
      [2, "overloaded"],
    ]);
  });

  it("spreads the waits of many callers, and waits as long as the server asked, to the millisecond", async () => {
    const asking = Object.assign(new Error("slow down"), { status: 429, headers: { "Retry-After": "3" } });
    const errors = [busy, asking];
    const slept: number[] = [];
    await withRetries(
      async (attempt) => {
        if (attempt < 3) throw errors[attempt - 1];
        return "done";
      },
      { sleep: async (ms) => void slept.push(ms), random: () => 0.5 },
    );
    expect(slept).toEqual([375, 3000]);
  });

  it("tells of each failed attempt, also of the last", async () => {
    const kinds: string[] = [];
    const call = vi.fn<() => Promise<string>>().mockRejectedValue(busy);
    const onFailure = ({ kind }: ModelFailure) => void kinds.push(kind);
    await expect(withRetries(call, { sleep: async () => undefined, onFailure })).rejects.toBe(busy);
    expect(kinds).toEqual(["overloaded", "overloaded", "overloaded"]);
  });

  it("does not try again after a wait that ignored the abort", async () => {
    const controller = new AbortController();
    const call = vi.fn<() => Promise<string>>().mockRejectedValue(busy);
    const sleep = async () => controller.abort(new Error("user stop"));
    await expect(withRetries(call, { sleep, signal: controller.signal })).rejects.toThrow("user stop");
    expect(call).toHaveBeenCalledTimes(1);
  });

  it("throws the last error as it was when the attempts are used", async () => {
    const call = vi.fn<(attempt: number) => Promise<string>>().mockRejectedValue(busy);
    await expect(withRetries(call, { sleep: async () => undefined, attempts: 2 })).rejects.toBe(busy);
    expect(call).toHaveBeenCalledTimes(2);
  });

  it("makes one attempt when the caller says stop", async () => {
    const call = vi.fn<(attempt: number) => Promise<string>>().mockRejectedValue(busy);
    await expect(withRetries(call, { sleep: async () => undefined, onRetry: () => "stop" })).rejects.toBe(
      busy,
    );
    expect(call).toHaveBeenCalledTimes(1);
  });

  it("does not repeat what the user has seen part of, unless told to", async () => {
    const cut = new ModelStreamError("cut_stream", "cut", { streamed: true });
    const call = vi
      .fn<(attempt: number) => Promise<string>>()
      .mockRejectedValueOnce(cut)
      .mockResolvedValue("whole");
    await expect(withRetries(call, { sleep: async () => undefined })).rejects.toBe(cut);
    call.mockReset().mockRejectedValueOnce(cut).mockResolvedValue("whole");
    expect(await withRetries(call, { sleep: async () => undefined, onRetry: () => "retry" })).toBe("whole");
  });

  it("makes no further attempt once it is aborted", async () => {
    const controller = new AbortController();
    const call = vi.fn<() => Promise<string>>().mockImplementation(async () => {
      controller.abort();
      throw busy;
    });
    await expect(withRetries(call, { sleep: async () => undefined, signal: controller.signal })).rejects.toBe(
      busy,
    );
    expect(call).toHaveBeenCalledTimes(1);
  });

  it("stops waiting when it is aborted", async () => {
    const controller = new AbortController();
    const sleep: RetryOptions["sleep"] = async (_ms, signal) => {
      controller.abort(new Error("user stop"));
      signal?.throwIfAborted();
    };
    await expect(withRetries(failingTimes(1), { sleep, signal: controller.signal })).rejects.toThrow(
      "user stop",
    );
  });
});

function failingTimes(times: number): (attempt: number) => Promise<string> {
  return async (attempt) => {
    if (attempt <= times) throw busy;
    return `attempt ${attempt}`;
  };
}
