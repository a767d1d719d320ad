/** The session graph: reads as the diagram of one turn. */
import { END, START, StateGraph, type NodeError } from "@langchain/langgraph";
import type { BaseCheckpointSaver, BaseStore } from "@langchain/langgraph-checkpoint";
import type { SessionDeps } from "#src/app/session-deps.ts";
import {
  afterAdmit,
  afterCommand,
  afterCommit,
  afterDecision,
  afterRotation,
  afterSolver,
  afterTools,
  toSolver,
} from "./edges.ts";
import { admit } from "./nodes/admit.ts";
import { callModel as askModel } from "./nodes/call-model.ts";
import { commit } from "./nodes/commit.ts";
import { decideRollover } from "./nodes/decide-rollover.ts";
import { handOff } from "./nodes/hand-off.ts";
import { prepareTurn } from "./nodes/prepare-turn.ts";
import { recordFailure } from "./nodes/record-failure.ts";
import { rotate } from "./nodes/rotate.ts";
import { runCommand } from "./nodes/run-command.ts";
import { runTools } from "./nodes/run-tools.ts";
import { solveSymbolically } from "./nodes/solve-symbolically.ts";
import type { NodeRuntime } from "./run-context.ts";
import {
  sessionContextSchema,
  SessionInput,
  SessionOutput,
  SessionState,
  type SessionStateValues,
} from "./state.ts";
import { asCommand, reaching } from "./routed.ts";
import { straightWay } from "./straight-on.ts";
import { storedBefore } from "./stored-before.ts";
import { modelNodes } from "./thinking.ts";

/** What the graph holds, is given and gives back. LangGraph checks everything that is written against these schemas. */
export const SESSION_SCHEMAS = {
  state: SessionState,
  input: SessionInput,
  output: SessionOutput,
  context: sessionContextSchema,
};

/** The nodes in which the reply model is asked. */
export const modelNodesOf = (deps: SessionDeps) => modelNodes(deps, askModel(deps));

/** How the graph is built. */
export interface SessionGraphForm {
  readonly schemas: typeof SESSION_SCHEMAS;
  /** How each of its nodes tells LangGraph what it changed and where the turn goes. */
  readonly asNode: typeof asCommand;
}

/** The graph, not compiled. */
export function buildSessionGraph(
  deps: SessionDeps,
  models: ReturnType<typeof modelNodesOf>,
  { schemas, asNode }: SessionGraphForm,
) {
  const fail = recordFailure(deps);
  const straight = straightWay(deps, models.answerAtOnce);
  return new StateGraph(schemas)
    .addNode("admit", asNode(straight(admit(deps), afterAdmit)), {
      ends: ["runCommand", "handOff", "prepareTurn", "decideRollover", "commit", END],
    })
    .addNode("decideRollover", asNode(straight(decideRollover(deps), afterDecision)), {
      ends: ["rotate", "commit", "prepareTurn"],
    })
    .addNode("rotate", asNode(reaching(rotate(deps), afterRotation)), { ends: ["handOff", END] })
    .addNode("handOff", asNode(reaching(handOff(deps), () => END)), { ends: [END] })
    .addNode("runCommand", asNode(reaching(runCommand(deps), afterCommand)), {
      ends: ["decideRollover", END],
    })
    .addNode("prepareTurn", asNode(straight(prepareTurn(deps), toSolver)), {
      ends: ["callModel", "solveSymbolically"],
    })
    .addNode("callModel", asNode(straight(models.callModel, afterSolver)), { ends: ["runTools", "commit"] })
    .addNode("runTools", asNode(reaching(storedBefore(deps, runTools(deps)), afterTools)), {
      ends: ["runTools", "callModel", "commit"],
    })
    .addNode("solveSymbolically", asNode(straight(solveSymbolically(deps), afterSolver)), {
      ends: ["commit"],
    })
    .addNode("commit", asNode(reaching(commit(deps), afterCommit)), { ends: ["rotate", "handOff", END] })
    .addEdge(START, "admit")
    .setNodeDefaults({
      // Every node of this graph takes the whole state.
      errorHandler: (state: unknown, failure: NodeError, runtime) =>
        fail(state as SessionStateValues, failure, runtime as NodeRuntime | undefined),
    });
}

/** For whoever watches it step by step. */
const WATCHED: SessionGraphForm = { schemas: SESSION_SCHEMAS, asNode: asCommand };

/** The graph on a checkpointer and a store. A server sets its own on every request. */
export function compileSessionGraph(
  deps: SessionDeps,
  storage: { readonly checkpointer?: BaseCheckpointSaver; readonly store?: BaseStore } = {},
) {
  return buildSessionGraph(deps, modelNodesOf(deps), WATCHED).compile({ ...storage, name: "session" });
}

/** The compiled graph. */
export type CompiledSessionGraph = ReturnType<typeof compileSessionGraph>;
