/** How long a model thinks, against the time after which what led to its call is stored. */
import { setImmediate as nextRound } from "node:timers/promises";

/** A model that thinks, and a Lily that does not store what led to its first call before that. */
export interface Thinking {
  readonly persistAfterMs: number;
  /** Ends when the model has thought about a text. */
  readonly think?: (text: string) => Promise<void>;
}

/** A moment that does not come. */
const NEVER_MS = 2 ** 31 - 1;

/** Rounds of the program in which the write is made: it begins in the first. */
const ROUNDS = 4;

/** By name, for programs whose timer is eager: no answer ever takes so long, or each does. */
export const THINKING = {
  briefly: { persistAfterMs: NEVER_MS },
  long: {
    persistAfterMs: 1,
    async think() {
      for (let round = 0; round < ROUNDS; round += 1) await nextRound();
    },
  },
} as const satisfies Readonly<Record<string, Thinking>>;
