/** First come, first served by name, inside one process. */

/** Options of {@link KeyQueue.enter}. */
export interface EnterOptions {
  /** Leaves the queue; its reason is thrown. */
  readonly signal: AbortSignal;
  /** Called once when somebody else is inside. */
  readonly onWait: () => void;
}

/** A queue for each name; one is inside, the others wait in the order in which they came. */
export interface KeyQueue {
  /**
   * Waits until everyone who came before under the same name has left or given up.
   *
   * @returns what leaves again, idempotent
   * @throws the signal's reason when it is aborted before
   */
  enter(name: string, options: EnterOptions): Promise<() => void>;
}

type Admit = () => void;

/** Makes a queue. A name takes no room while nobody uses it. */
export function createKeyQueue(): KeyQueue {
  // Present: somebody is inside. The list holds those who wait.
  const lines = new Map<string, Admit[]>();

  const leaveOnce = (name: string): (() => void) => {
    let left = false;
    return () => {
      if (left) return;
      left = true;
      const next = lines.get(name)?.shift();
      if (next === undefined) lines.delete(name);
      else next();
    };
  };

  return {
    async enter(name, { signal, onWait }) {
      signal.throwIfAborted();
      const line = lines.get(name);
      if (line === undefined) lines.set(name, []);
      else {
        // Told first: should the listener throw, nobody has taken a place.
        onWait();
        signal.throwIfAborted();
        await waitInLine(line, signal);
      }
      return leaveOnce(name);
    },
  };
}

function waitInLine(line: Admit[], signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const admit = (): void => {
      signal.removeEventListener("abort", giveUp);
      resolve();
    };
    const giveUp = (): void => {
      const place = line.indexOf(admit);
      if (place !== -1) line.splice(place, 1);
      reject(signal.reason as Error);
    };
    line.push(admit);
    signal.addEventListener("abort", giveUp, { once: true });
  });
}
