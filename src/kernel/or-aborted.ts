/** Ends the waiting for work that does not listen to its signal. */

export interface OrAbortedOptions {
  readonly signal: AbortSignal;
  /**
   * Waits as long as aborted work may still take to end by itself; without it none. Its signal is aborted when the work
   * has ended.
   */
  readonly grace?: (ended: AbortSignal) => Promise<void>;
}

/**
 * The outcome of `work`, or the reason of `signal` once that is aborted; a reason that is no error becomes an
 * `AbortError`. Work that goes on all the same is left behind: its late outcome goes nowhere.
 */
export async function orAborted<T>(work: Promise<T>, { signal, grace }: OrAbortedOptions): Promise<T> {
  // The race may be over; what comes of the work later is nobody's concern.
  work.catch(() => undefined);
  const ended = new AbortController();
  let abort: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    const end = (): void =>
      reject(signal.reason instanceof Error ? signal.reason : new DOMException("stopped", "AbortError"));
    // A wait that fails is over as well.
    abort = () => (grace === undefined ? end() : void grace(ended.signal).then(end, end));
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
    ended.abort();
  }
}
