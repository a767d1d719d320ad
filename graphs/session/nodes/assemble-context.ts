/** `assembleContext`: chooses what the model is given, within the budget, and keeps the receipt. */
import type { SessionDeps } from "#src/app/session-deps.ts";
import { assemblePrompt } from "../prompt.ts";
import { requireTurn } from "../require.ts";
import { readRunContext, type NodeRuntime } from "../run-context.ts";
import type { SessionStateValues, SessionUpdate } from "../state.ts";

/** Makes the node. */
export function assembleContext(deps: SessionDeps) {
  return async (state: SessionStateValues, runtime: NodeRuntime): Promise<SessionUpdate> => {
    const { session, turn } = requireTurn(state);
    // Not the prompt itself: whatever a node returns is streamed to every client, the system prompt and old turns too.
    const { receipt } = await assemblePrompt(deps, readRunContext(deps, runtime), session, turn);
    return { turn: { ...turn, receipt } };
  };
}
