/** Ends the waiting for work that does not listen to its signal: it cannot hold a turn. */
import type { Sleep } from "./sleep.ts";

/** Options of {@link orAborted}. */
interface OrAbortedOptions {
  readonly signal: AbortSignal;
  /** Time in which aborted work may still end by itself, with what there is; without it none. */
  readonly grace?: { readonly ms: number; readonly sleep: Sleep };
}

/**
 * The outcome of `work`, or, once `signal` is aborted, its reason. Work that goes on all the same is left behind: its
 * late outcome goes nowhere.
 */
export async function orAborted<T>(work: Promise<T>, { signal, grace }: OrAbortedOptions): Promise<T> {
  // The race may be over; what comes of the work later is nobody's concern.
  work.catch(() => undefined);
  let settled: AbortController | undefined;
  let abort: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    const end = (): void =>
      reject(signal.reason instanceof Error ? signal.reason : new DOMException("stopped", "AbortError"));
    // A wait that fails is over as well.
    abort = () => {
      settled = new AbortController();
      void (grace?.sleep(grace.ms, settled.signal) ?? Promise.resolve()).then(end, end);
    };
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
    settled?.abort();
  }
}
