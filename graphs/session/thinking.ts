/**
 * A model's first call of a turn is begun in the step before its own: nothing has been done yet that must not be done
 * twice. An answer that comes at once is committed in that step. A model that thinks longer gets its step, where what led
 * to the call is stored while it goes on.
 */
import type { SessionDeps } from "#src/app/session-deps.ts";
import { passOn } from "#src/kernel/pass-on.ts";
import { systemTimer } from "#src/turns/timer.ts";
import type { CallRuntime } from "./ask-model.ts";
import type { Node } from "./routed.ts";
import { threadOf } from "./run-context.ts";
import type { SessionStateValues, SessionUpdate } from "./state.ts";
import { storedBefore } from "./stored-before.ts";

/** The call of a model, which ends with `signal`. */
export type ModelCall<Update> = (
  state: SessionStateValues,
  runtime: CallRuntime,
  signal: AbortSignal,
) => Promise<Update>;

/** The two places in which a call is made. */
export interface ModelNodes<Update> {
  /** `undefined` when the answer does not come at once, or the call has failed: its own step hears of it. */
  readonly answerAtOnce: Node<CallRuntime, Update | undefined>;
  /** The model's node: joins the call that goes on, or makes it. */
  readonly callModel: Node<CallRuntime, Update>;
  /** Ends a call of a thread whose run has ended before the model's step came. */
  readonly runEnded: (threadId: string) => void;
}

/** A call that goes on. */
interface BegunCall<Update> {
  /** Of the turn. */
  readonly requestId: string;
  readonly answer: Promise<Update>;
  readonly stop: AbortController;
}

/** Makes the nodes. */
export function modelNodes<Update extends SessionUpdate>(
  deps: SessionDeps,
  call: ModelCall<Update>,
): ModelNodes<Update> {
  const { persist, persistAfterMs = 0, timer = systemTimer } = deps;
  const late = new Map<string, BegunCall<Update>>();

  const begin = (state: SessionStateValues, runtime: CallRuntime): BegunCall<Update> => {
    const stop = new AbortController();
    const answer = call(state, runtime, stop.signal);
    return { requestId: state.turn?.requestId ?? "", answer, stop };
  };

  const runEnded = (threadId: string): void => {
    late.get(threadId)?.stop.abort();
    late.delete(threadId);
  };

  const callNow = storedBefore<CallRuntime, Update>(deps, async (state, runtime) => {
    const begun = begin(state, runtime);
    return stoppedWith(runtime.signal, begun, begun.answer);
  });

  return {
    runEnded,

    async answerAtOnce(state, runtime) {
      if (persist === undefined || persistAfterMs === 0 || state.turn?.modelCalls !== 0) return undefined;
      const begun = begin(state, runtime);
      const soon = inTime(begun.answer, (tooLate) => timer.after(persistAfterMs, tooLate));
      const answer = await stoppedWith(runtime.signal, begun, soon);
      // A run that was ended has no further step.
      if (answer === undefined && !begun.stop.signal.aborted) late.set(threadOf(runtime), begun);
      return answer;
    },

    async callModel(state, runtime) {
      const threadId = threadOf(runtime);
      const begun = late.get(threadId);
      if (begun === undefined || begun.requestId !== state.turn?.requestId) {
        runEnded(threadId);
        return callNow(state, runtime);
      }
      late.delete(threadId);
      // The same write comes again, and is heard of, with the next step: it is no reason to give an answer up.
      const stored = persist?.(threadId).catch(() => undefined);
      try {
        return await stoppedWith(runtime.signal, begun, begun.answer);
      } finally {
        // Or it would be stored after the step that comes next, as the newer one.
        await stored;
      }
    },
  };
}

/** The outcome of work on a call, which is stopped when `signal` is aborted meanwhile. */
async function stoppedWith<T>(
  signal: AbortSignal | undefined,
  { stop }: Pick<BegunCall<unknown>, "stop">,
  work: Promise<T>,
): Promise<T> {
  const leave = passOn(signal, stop);
  try {
    return await work;
  } finally {
    leave();
  }
}

/** The outcome of `work`; `undefined` when it has failed, or has not come in time. */
function inTime<T>(
  work: Promise<T>,
  startTimer: (tooLate: () => void) => () => void,
): Promise<T | undefined> {
  return new Promise((resolve) => {
    const cancel = startTimer(() => resolve(undefined));
    const end = (outcome: T | undefined): void => {
      cancel();
      resolve(outcome);
    };
    work.then(end, () => end(undefined));
  });
}
