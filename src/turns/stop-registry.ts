/** How the answer that is being written is stopped without losing it: a stop for each turn that runs in this process. */

/** Stops of the turns that run in this process. */
export interface StopRegistry {
  /** The signal of the turn that runs on a session. */
  signalFor(sessionId: string): AbortSignal | undefined;
  /** Says that a session runs under a turn's stop, until the returned function is called. */
  onSession(sessionId: string, signal: AbortSignal): () => void;
  /** Registers the turn that runs on a key, until the returned function is called. */
  onKey(lockName: string, running: RunningTurn): () => void;
  /** The turn that runs on a key. */
  runningOn(lockName: string): RunningTurn | undefined;
}

/** A turn that runs in this process. */
export interface RunningTurn {
  /** What it answers; more than one where messages were collected. */
  readonly deliveryIds: readonly string[];
  /** Fencing token of its lease. */
  readonly token: number;
  readonly stop: AbortController;
}

/** Makes an empty registry. */
export function createStopRegistry(): StopRegistry {
  const signals = new Map<string, AbortSignal>();
  const running = new Map<string, RunningTurn>();
  return {
    signalFor: (sessionId) => signals.get(sessionId),
    onSession: (sessionId, signal) => enter(signals, sessionId, signal),
    onKey: (lockName, turn) => enter(running, lockName, turn),
    runningOn: (lockName) => running.get(lockName),
  };
}

function enter<T>(entries: Map<string, T>, name: string, value: T): () => void {
  entries.set(name, value);
  return () => {
    if (entries.get(name) === value) entries.delete(name);
  };
}
