/**
 * The one rule of what ends a call of a model or a tool early, and what becomes of its turn.
 *
 * - `stop`: the user's wish (Ctrl-C, `/stop`, a command that ends the session, a server or terminal that is told to
 *   end). What was written so far is kept, and the turn is committed as `stopped`.
 * - `time`: the turn's own limit. The same, as `limited`.
 * - `run`: the run itself ends, because its lease was lost or a LangGraph server cancelled it. Nothing is committed:
 *   somebody else may be answering already. The next `admit` settles it, as after a crash (`settle.ts`).
 *
 * A client that goes away is none of these: its turn goes on, and its delivery id brings the answer later.
 */
import type { SessionDeps } from "#src/app/session-deps.ts";
import { LilyError } from "#src/kernel/errors.ts";

/** What ended a call early. */
type Ending = "stop" | "time" | "run";

/** Watches one call. */
export interface CallGuard {
  /** For the call; aborted by whatever ends it. */
  readonly signal: AbortSignal;
  endedBy(): Ending | undefined;
  /** Milliseconds that the call has taken. */
  spentMs(): number;
  /** Milliseconds that the turn has left; infinite without a limit. */
  leftMs(): number;
  /** Ends the watch. Idempotent. */
  close(): void;
}

/** What is watched. */
interface GuardedCall {
  readonly sessionId: string;
  /** Of the run. */
  readonly runSignal: AbortSignal | undefined;
  /** What the turn had taken before. */
  readonly spentMs: number;
}

/** Begins to watch a call. */
export function guardCall(deps: SessionDeps, { sessionId, runSignal, spentMs }: GuardedCall): CallGuard {
  const begunMs = deps.clock.monotonic();
  const takenMs = (): number => deps.clock.monotonic() - begunMs;
  const limitMs = deps.limits.turnMs > 0 ? deps.limits.turnMs : Number.POSITIVE_INFINITY;
  const leftMs = (): number => limitMs - spentMs - takenMs();
  const time = new AbortController();
  const timer = Number.isFinite(limitMs)
    ? setTimeout(() => time.abort(timeIsUp()), Math.max(0, leftMs()))
    : undefined;
  const stop = deps.stops.signalFor(sessionId);
  const signals = [stop, runSignal, time.signal].filter((signal) => signal !== undefined);
  return {
    signal: AbortSignal.any(signals),
    endedBy() {
      if (stop?.aborted === true) return "stop";
      if (runSignal?.aborted === true) return "run";
      return time.signal.aborted ? "time" : undefined;
    },
    spentMs: takenMs,
    leftMs,
    close: () => clearTimeout(timer),
  };
}

/** Why a call is aborted; nobody is told, for what was written so far is kept. */
function timeIsUp(): LilyError {
  return new LilyError("turn_stopped", "the time of this turn is used up");
}
