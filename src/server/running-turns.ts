/** The turns that requests have begun: how many an owner may have at once, and how a server that ends waits for them. */
import { LilyError } from "#src/kernel/errors.ts";

/** A turn that runs. */
export interface RunningTurn {
  /** Aborted when the server ends before the turn does; what there is of the answer is kept. */
  readonly stop: AbortSignal;
  /** Says that it has ended. Idempotent. */
  end(): void;
}

/** The turns that run in this process. */
export interface RunningTurns {
  /**
   * Says that a turn of the owner begins.
   *
   * @throws {LilyError} `rate_limited` when the owner has too many already
   */
  begin(owner: string): RunningTurn;
  /** Stops all turns that run. */
  stopAll(): void;
  /** Resolves when no turn runs. */
  idle(): Promise<void>;
}

/** Makes the count. */
export function createRunningTurns(perOwner: number): RunningTurns {
  // Each has a stop of its own: Node takes many listeners of one signal for a leak.
  const running = new Map<AbortController, string>();
  let waiting: (() => void)[] = [];
  const end = (turn: AbortController): void => {
    running.delete(turn);
    if (running.size > 0) return;
    for (const resolve of waiting) resolve();
    waiting = [];
  };
  return {
    begin(owner) {
      const others = [...running.values()].filter((other) => other === owner);
      if (others.length >= perOwner) throw tooMany(perOwner);
      const turn = new AbortController();
      running.set(turn, owner);
      return { stop: turn.signal, end: () => end(turn) };
    },
    stopAll() {
      for (const turn of running.keys()) turn.abort(stopped());
    },
    idle: () => (running.size === 0 ? Promise.resolve() : new Promise((resolve) => waiting.push(resolve))),
  };
}

function tooMany(perOwner: number): LilyError {
  return new LilyError("rate_limited", `${perOwner} messages are being answered or waiting already`, {
    next: "Wait for one of them, then send the message again. It was not stored.",
  });
}

/** What a turn is told that had not begun; one that is being answered ends as stopped instead. */
function stopped(): LilyError {
  return new LilyError("draining", "the server ends", {
    next: "Send the message again when it is back. It was not stored.",
  });
}
