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
import { passOn } from "#src/kernel/pass-on.ts";
import { systemTimer } from "#src/turns/timer.ts";

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

/** A timer may be early by this much; the clock has the word otherwise. */
const EARLY_MS = 5;

/** Begins to watch a call. */
export function guardCall(deps: SessionDeps, { sessionId, runSignal, spentMs }: GuardedCall): CallGuard {
  const begunMs = deps.clock.monotonic();
  const takenMs = (): number => deps.clock.monotonic() - begunMs;
  const limitMs = deps.limits.turnMs > 0 ? deps.limits.turnMs : Number.POSITIVE_INFINITY;
  const leftMs = (): number => limitMs - spentMs - takenMs();
  const stop = deps.stops.signalFor(sessionId);
  const call = new AbortController();
  let isTimeUp = false;
  const endForTime = (): void => {
    if (leftMs() > EARLY_MS) return;
    isTimeUp = true;
    call.abort(timeIsUp());
  };
  const { timer = systemTimer } = deps;
  const watching = [
    ...(Number.isFinite(limitMs) ? [timer.after(Math.max(0, leftMs()), endForTime)] : []),
    passOn(stop, call),
    passOn(runSignal, call),
  ];
  return {
    signal: call.signal,
    endedBy() {
      if (stop?.aborted === true) return "stop";
      if (runSignal?.aborted === true) return "run";
      return isTimeUp ? "time" : undefined;
    },
    spentMs: takenMs,
    leftMs,
    close() {
      for (const end of watching) end();
    },
  };
}

/** Never told: a call that it ends is kept as far as it came. */
function timeIsUp(): LilyError {
  return new LilyError("turn_stopped", "the time of this turn is used up");
}
