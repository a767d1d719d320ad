/** How the answer that is being written is stopped without losing it: a stop for each turn that runs in this process. */

/** Stops of the turns that run in this process. */
export interface StopRegistry {
  /** The signal of the turn that runs on a session. */
  signalFor(sessionId: string): AbortSignal | undefined;
  /** Says that a session runs under a turn's stop, until the returned function is called. */
  onSession(sessionId: string, signal: AbortSignal): () => void;
  /** Registers the stop of the turn that runs on a key, until the returned function is called. */
  onKey(lockName: string, stop: AbortController): () => void;
  /** Stops the turn that runs on a key; whether there was one. */
  stopKey(lockName: string): boolean;
}

/** Makes an empty registry. */
export function createStopRegistry(): StopRegistry {
  const signals = new Map<string, AbortSignal>();
  const stops = new Map<string, AbortController>();
  return {
    signalFor: (sessionId) => signals.get(sessionId),
    onSession: (sessionId, signal) => enter(signals, sessionId, signal),
    onKey: (lockName, stop) => enter(stops, lockName, stop),
    stopKey(lockName) {
      const stop = stops.get(lockName);
      stop?.abort(new Error("stopped by the user"));
      return stop !== undefined;
    },
  };
}

function enter<T>(entries: Map<string, T>, name: string, value: T): () => void {
  entries.set(name, value);
  return () => {
    if (entries.get(name) === value) entries.delete(name);
  };
}
