/** Stores what led to a node before it does what takes long, costs, or must not be done twice. */
import type { SessionDeps } from "#src/app/session-deps.ts";
import { systemTimer } from "#src/turns/timer.ts";
import { threadOf, type NodeRuntime } from "./run-context.ts";
import type { SessionStateValues, SessionUpdate } from "./state.ts";

type Node<Runtime, Update> = (state: SessionStateValues, runtime: Runtime) => Promise<Update>;

/** The same node, before which the run is stored as far as it has come. */
export function storedBefore<Runtime extends NodeRuntime, Update extends SessionUpdate>(
  deps: SessionDeps,
  node: Node<Runtime, Update>,
): Node<Runtime, Update> {
  return async (state, runtime) => {
    await deps.persist?.(threadOf(runtime));
    return node(state, runtime);
  };
}

/**
 * The same for a model call, but before the first of a turn nothing has been done yet that must not be done twice: what led
 * to it is stored while the model thinks, once it has thought for `persistAfterMs`. An answer that comes sooner is
 * committed before anybody could have needed it.
 */
export function storedWhileItThinks<Runtime extends NodeRuntime, Update extends SessionUpdate>(
  deps: SessionDeps,
  node: Node<Runtime, Update>,
): Node<Runtime, Update> {
  const before = storedBefore(deps, node);
  return async (state, runtime) => {
    const { persist, persistAfterMs = 0, timer = systemTimer } = deps;
    if (persist === undefined || persistAfterMs === 0 || state.turn?.modelCalls !== 0)
      return before(state, runtime);
    let stored: Promise<unknown> | undefined;
    const cancel = timer.after(persistAfterMs, () => {
      // The same write comes again, and is heard of, with the next step: it is no reason to give an answer up.
      stored = persist(threadOf(runtime)).catch(() => undefined);
    });
    try {
      return await node(state, runtime);
    } finally {
      cancel();
      // Or it would be stored after the step that comes next, as the newer one.
      await stored;
    }
  };
}
