/** The session graph: reads as the diagram of one turn, and is what runs, on every host. */
import { END, START, StateGraph } from "@langchain/langgraph";
import type { BaseCheckpointSaver, BaseStore } from "@langchain/langgraph-checkpoint";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { afterAdmit, afterCommand, afterDecision, afterModel, afterTools } from "./edges.ts";
import { admit } from "./nodes/admit.ts";
import { assembleContext } from "./nodes/assemble-context.ts";
import { callModel } from "./nodes/call-model.ts";
import { commit } from "./nodes/commit.ts";
import { decideRollover } from "./nodes/decide-rollover.ts";
import { recordFailure } from "./nodes/record-failure.ts";
import { rotate } from "./nodes/rotate.ts";
import { runCommand } from "./nodes/run-command.ts";
import { runTools } from "./nodes/run-tools.ts";
import { recorder } from "./run-context.ts";
import { SessionInput, SessionOutput, SessionState } from "./state.ts";

/** The graph on a checkpointer and a store. A LangGraph server sets its own on every request. */
export function compileSessionGraph(
  deps: SessionDeps,
  storage: { readonly checkpointer?: BaseCheckpointSaver; readonly store?: BaseStore } = {},
) {
  const recorded = recorder(deps);
  // No `context`: LangGraph would throw what does not fit before any node could say so. `readRunContext` reads it.
  return new StateGraph({ state: SessionState, input: SessionInput, output: SessionOutput })
    .addNode("admit", recorded("admit", admit(deps)))
    .addNode("decideRollover", recorded("decideRollover", decideRollover(deps)))
    .addNode("rotate", recorded("rotate", rotate(deps)))
    .addNode("runCommand", recorded("runCommand", runCommand(deps)))
    .addNode("assembleContext", recorded("assembleContext", assembleContext(deps)))
    .addNode("callModel", recorded("callModel", callModel(deps)))
    .addNode("runTools", recorded("runTools", runTools(deps)))
    .addNode("commit", recorded("commit", commit(deps)))
    .setNodeDefaults({ errorHandler: recordFailure(deps) })
    .addEdge(START, "admit")
    .addConditionalEdges("admit", afterAdmit, [
      "runCommand",
      "decideRollover",
      "assembleContext",
      "runTools",
      "commit",
      END,
    ])
    .addConditionalEdges("decideRollover", afterDecision, ["rotate", "assembleContext", "commit"])
    .addConditionalEdges("runCommand", afterCommand, ["decideRollover", END])
    .addEdge("rotate", END)
    .addEdge("assembleContext", "callModel")
    .addConditionalEdges("callModel", afterModel, ["runTools", "commit"])
    .addConditionalEdges("runTools", afterTools, ["runTools", "callModel", "commit"])
    .addEdge("commit", END)
    .compile({ ...storage, name: "session" });
}

export type CompiledSessionGraph = ReturnType<typeof compileSessionGraph>;
