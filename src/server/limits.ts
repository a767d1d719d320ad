/** What keeps one caller from taking the server from the others, and how a server that ends waits for the turns that run. */
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { LilyError } from "#src/kernel/errors.ts";

/**
 * Counts the requests of each caller in a minute, in the memory of this process; 0 is no limit. Each call counts one, and
 * returns the seconds to wait, 0 when it may go on.
 */
export function createRequestRate(perMinute: number): (caller: string) => Promise<number> {
  if (perMinute === 0) return async () => 0;
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
  return async (caller) => {
    try {
      await limiter.consume(caller);
      return 0;
    } catch (refusal) {
      if (!(refusal instanceof RateLimiterRes)) throw refusal;
      return Math.max(1, Math.ceil(refusal.msBeforeNext / 1000));
    }
  };
}

/** The turns that run in this process. */
export type RunningTurns = ReturnType<typeof createRunningTurns>;

/** Makes the count; 0 is no limit. */
export function createRunningTurns(perCaller: number) {
  // Each has a stop of its own: Node takes many listeners of one signal for a leak.
  const running = new Map<AbortController, string>();
  let waiting: (() => void)[] = [];
  const end = (turn: AbortController): void => {
    running.delete(turn);
    if (running.size > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  };
  return {
    /**
     * Says that a turn of the caller begins. `stop` is aborted when the server ends before the turn does; what there is of
     * the answer is kept. `end` says that it has ended; idempotent.
     *
     * @throws {LilyError} `rate_limited` when the caller has too many already
     */
    begin(caller: string) {
      const others = [...running.values()].filter((other) => other === caller);
      if (perCaller > 0 && others.length >= perCaller)
        throw new LilyError("rate_limited", `${perCaller} messages are being answered or waiting already`, {
          next: "Wait for one of them, then send the message again. It was not stored.",
        });
      const turn = new AbortController();
      running.set(turn, caller);
      return { stop: turn.signal, end: () => end(turn) };
    },
    /** Stops all turns that run. */
    stopAll(): void {
      // What a turn is told that had not begun; one that is being answered ends as stopped instead.
      const next = "Send the message again when it is back. It was not stored.";
      for (const turn of running.keys()) turn.abort(new LilyError("draining", "the server ends", { next }));
    },
    /** Resolves when no turn runs. */
    idle: (): Promise<void> =>
      running.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve)),
  };
}
