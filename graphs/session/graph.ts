/** The session graph: reads as the diagram of one turn. */
import { END, START, StateGraph, type NodeError } from "@langchain/langgraph";
import type { BaseCheckpointSaver, BaseStore } from "@langchain/langgraph-checkpoint";
import type { SessionDeps } from "#src/app/session-deps.ts";
import {
  afterAdmit,
  afterCommand,
  afterCommit,
  afterDecision,
  afterModel,
  afterRotation,
  afterTools,
  toSolver,
} from "./edges.ts";
import { admit } from "./nodes/admit.ts";
import { callModel } from "./nodes/call-model.ts";
import { commit } from "./nodes/commit.ts";
import { decideRollover } from "./nodes/decide-rollover.ts";
import { handOff } from "./nodes/hand-off.ts";
import { prepareTurn } from "./nodes/prepare-turn.ts";
import { recordFailure } from "./nodes/record-failure.ts";
import { rotate } from "./nodes/rotate.ts";
import { runCommand } from "./nodes/run-command.ts";
import { runTools } from "./nodes/run-tools.ts";
import { solveSymbolically } from "./nodes/solve-symbolically.ts";
import { threadOf, type NodeRuntime } from "./run-context.ts";
import {
  sessionContextSchema,
  SessionInput,
  SessionOutput,
  SessionState,
  type SessionStateValues,
  type SessionUpdate,
} from "./state.ts";

/** The graph, not compiled. */
function buildSessionGraph(deps: SessionDeps) {
  const fail = recordFailure(deps);
  return new StateGraph({
    state: SessionState,
    input: SessionInput,
    output: SessionOutput,
    context: sessionContextSchema,
  })
    .addNode("admit", admit(deps))
    .addNode("decideRollover", decideRollover(deps))
    .addNode("rotate", rotate(deps))
    .addNode("handOff", handOff(deps))
    .addNode("runCommand", runCommand(deps))
    .addNode("prepareTurn", prepareTurn(deps))
    .addNode("callModel", storedBefore(deps, callModel(deps)))
    .addNode("runTools", storedBefore(deps, runTools(deps)))
    .addNode("solveSymbolically", solveSymbolically(deps))
    .addNode("commit", commit(deps))
    .addEdge(START, "admit")
    .addConditionalEdges("admit", afterAdmit, [
      "runCommand",
      "handOff",
      "prepareTurn",
      "decideRollover",
      "commit",
      END,
    ])
    .addConditionalEdges("decideRollover", afterDecision, ["rotate", "commit", "prepareTurn"])
    .addConditionalEdges("rotate", afterRotation, ["handOff", END])
    .addEdge("handOff", END)
    .addConditionalEdges("runCommand", afterCommand, ["decideRollover", END])
    .addConditionalEdges("prepareTurn", toSolver, ["callModel", "solveSymbolically"])
    .addConditionalEdges("callModel", afterModel, ["runTools", "commit"])
    .addConditionalEdges("runTools", afterTools, ["runTools", "callModel", "commit"])
    .addEdge("solveSymbolically", "commit")
    .addConditionalEdges("commit", afterCommit, ["rotate", "handOff", END])
    .setNodeDefaults({
      // Every node of this graph takes the whole state.
      errorHandler: (state: unknown, failure: NodeError, runtime) =>
        fail(state as SessionStateValues, failure, runtime as NodeRuntime | undefined),
    });
}

/** What led to the node is stored before it begins: what it does takes long, costs, or must not be done twice. */
function storedBefore<Runtime extends NodeRuntime>(
  deps: SessionDeps,
  node: (state: SessionStateValues, runtime: Runtime) => Promise<SessionUpdate>,
): typeof node {
  return async (state, runtime) => {
    await deps.persist?.(threadOf(runtime));
    return node(state, runtime);
  };
}

/** The graph on a checkpointer and a store. A server sets its own on every request. */
export function compileSessionGraph(
  deps: SessionDeps,
  storage: { readonly checkpointer?: BaseCheckpointSaver; readonly store?: BaseStore } = {},
) {
  return buildSessionGraph(deps).compile({ ...storage, name: "session" });
}

/** The compiled graph. */
export type CompiledSessionGraph = ReturnType<typeof compileSessionGraph>;
