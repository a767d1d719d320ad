/** A turn looks, while it runs, whether another process asks it to stop. */
import type { StopRequests, LeasedTurn } from "./stop-requests.ts";
import type { Timer } from "./timer.ts";

/** How often a turn looks. A person who stops an answer waits for it at most this long; a shorter turn never looks. */
const LOOK_EVERY_MS = 250;

/** A turn that may be asked to stop. */
export interface StoppableTurn {
  readonly turn: LeasedTurn;
  /** What it answers: a repeated delivery of its own does not stop it. */
  readonly deliveryIds: readonly string[];
  readonly stop: AbortController;
}

/** Looks until the returned function is called, which removes what was asked. It never rejects. */
export function obeyStopRequests(
  requests: StopRequests,
  timer: Timer,
  running: StoppableTurn,
): () => Promise<void> {
  let look: Promise<void> | undefined;
  let hasLooked = false;
  const cancel = timer.every(LOOK_EVERY_MS, () => {
    hasLooked = true;
    if (running.stop.signal.aborted) return;
    // A store that is slower than the timer is not asked twice at once.
    look ??= lookOnce(requests, running).finally(() => (look = undefined));
  });
  return async () => {
    cancel();
    await look;
    // What asked a turn that was too short to look reaches no later one, and goes when the next is asked.
    if (hasLooked) await requests.clear(running.turn).catch(ignored);
  };
}

async function lookOnce(requests: StopRequests, { turn, deliveryIds, stop }: StoppableTurn): Promise<void> {
  try {
    for (const by of await requests.read(turn)) {
      if (deliveryIds.includes(by)) await requests.remove(turn, by);
      else stop.abort(new Error("stopped by the user"));
    }
  } catch (error) {
    ignored(error);
  }
}

/** A store that does not answer now may do so at the next look; what is left of requests is removed by a later turn. */
function ignored(_error: unknown): void {}
