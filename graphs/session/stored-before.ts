/** Stores what led to a node before it does what takes long, costs, or must not be done twice. */
import type { SessionDeps } from "#src/app/session-deps.ts";
import type { Node } from "./routed.ts";
import { threadOf, type NodeRuntime } from "./run-context.ts";

/** The same node, before which the run is stored as far as it has come. */
export function storedBefore<Runtime extends NodeRuntime, Update>(
  deps: SessionDeps,
  node: Node<Runtime, Update>,
): Node<Runtime, Update> {
  return async (state, runtime) => {
    await deps.persist?.(threadOf(runtime));
    return node(state, runtime);
  };
}
