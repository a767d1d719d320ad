/** How many requests an owner may make in a minute. */
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";

/** Counts requests by owner. */
export interface RequestRate {
  /** Counts one request. Returns the seconds to wait, 0 when it may go on. */
  take(owner: string): Promise<number>;
}

/** Makes the counter, in the memory of this process. */
export function createRequestRate(perMinute: number): RequestRate {
  const limiter = new RateLimiterMemory({ points: perMinute, duration: 60 });
  return {
    async take(owner) {
      try {
        await limiter.consume(owner);
        return 0;
      } catch (refusal) {
        if (!(refusal instanceof RateLimiterRes)) throw refusal;
        return Math.max(1, Math.ceil(refusal.msBeforeNext / 1000));
      }
    },
  };
}
