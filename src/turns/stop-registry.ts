/** How a person stops the answer that is being written, without losing it: a signal a session. */

/** Stop signals of the turns that run in this process. */
export interface StopRegistry {
  /** The signal of the turn that runs on a session. */
  signalFor(sessionId: string): AbortSignal | undefined;
  /** Registers a signal until the returned function is called. */
  register(sessionId: string, signal: AbortSignal): () => void;
}

/** Makes an empty registry. */
export function createStopRegistry(): StopRegistry {
  const signals = new Map<string, AbortSignal>();
  return {
    signalFor: (sessionId) => signals.get(sessionId),
    register(sessionId, signal) {
      signals.set(sessionId, signal);
      return () => {
        if (signals.get(sessionId) === signal) signals.delete(sessionId);
      };
    },
  };
}
