/**
 * `prepareTurn`: settles who answers and what is said before the answer, assembles the context and keeps its receipt.
 * Not the prompt itself: whatever a node returns is streamed to every client, the system prompt and old turns too.
 */
import { NO_MODEL_NOTICE } from "#src/turns/solvers/symbolic.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { solverOf } from "../locate-session.ts";
import { noticeMessage } from "../messages.ts";
import { promptMemoryOf } from "../prompt-memory.ts";
import { assemblePrompt } from "../prompt.ts";
import { requireTurn } from "../require.ts";
import { readRunContext, type NodeRuntime } from "../run-context.ts";
import type { SessionStateValues, SessionUpdate } from "../state.ts";

/** What says something before the answer, to whoever listens. */
type SayingRuntime = NodeRuntime & { readonly writer?: (event: unknown) => void };

/** Makes the node. */
export function prepareTurn(deps: SessionDeps) {
  return async (state: SessionStateValues, runtime: SayingRuntime): Promise<SessionUpdate> => {
    const { session, turn } = requireTurn(state);
    const solver = solverOf(deps, session);
    const notice = solver === "symbolic" && !session.toldNoModel ? NO_MODEL_NOTICE : null;
    const said = [turn.announcement, notice].filter((text) => text !== null);
    // A turn that goes on after a failure may have been prepared by this process before.
    promptMemoryOf(deps).forget(turn.requestId);
    const { receipt } = await assemblePrompt(deps, readRunContext(deps, runtime), { session, turn });
    for (const text of said) runtime.writer?.({ type: "notice", text });
    return {
      session: withModel(session, solver),
      turn: { ...turn, solver, notice, receipt },
      messages: said.map((text) => noticeMessage(text, deps.ids.uuid())),
    };
  };
}

/** A session that began before a model was configured takes the configured one from now on. */
function withModel(session: SessionFields, solver: string): SessionFields {
  if (solver === "symbolic" || session.modelConfig.model !== null) return session;
  return { ...session, modelConfig: { ...session.modelConfig, model: solver } };
}
