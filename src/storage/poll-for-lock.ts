/** Waiting for a lock that another process holds: asks again and again, spread out, until it is granted. */
import { setTimeout as sleepByTimer } from "node:timers/promises";

// Twenty waiting processes then look about 300 times a second in all, a read of one row each.
const SHORTEST_POLL_MS = 25;
const LONGEST_POLL_MS = 100;

/** How polling waits; tests replace both. */
export interface PollTiming {
  /** Waits between looks at a lock that is held; rejects when the signal is aborted. */
  readonly sleep?: ((ms: number, signal: AbortSignal) => Promise<void>) | undefined;
  /** Source of jitter in [0, 1). */
  readonly random?: (() => number) | undefined;
}

/** Options of {@link pollUntilGranted}. */
export interface PollOptions extends PollTiming {
  readonly signal: AbortSignal;
  /** Called each time the lock was not free. */
  readonly onWait: () => void;
}

/** The first grant that `attempt` gets. @throws the signal's reason when it is aborted, before or while waiting */
export async function pollUntilGranted<Grant>(
  attempt: () => Promise<Grant | undefined>,
  { signal, onWait, sleep = defaultSleep, random = Math.random }: PollOptions,
): Promise<Grant> {
  for (;;) {
    signal.throwIfAborted();
    const granted = await attempt();
    if (granted !== undefined) return granted;
    onWait();
    await sleep(SHORTEST_POLL_MS + random() * (LONGEST_POLL_MS - SHORTEST_POLL_MS), signal).catch(
      (error: unknown) => {
        // A timer rejects with an error of its own; the caller is owed the signal's reason.
        signal.throwIfAborted();
        throw error;
      },
    );
  }
}

async function defaultSleep(ms: number, signal: AbortSignal): Promise<void> {
  await sleepByTimer(ms, undefined, { signal });
}

/** `call`, the first time only. */
export function once(call: (() => void) | undefined): () => void {
  let called = false;
  return () => {
    if (called) return;
    called = true;
    call?.();
  };
}
