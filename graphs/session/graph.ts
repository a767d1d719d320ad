/** The session graph: reads as the diagram of one turn. */
import type { BaseMessage } from "@langchain/core/messages";
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
import { routed } from "./routed.ts";
import { straightWay } from "./straight-on.ts";
import { storedBefore } from "./stored-before.ts";
import { modelNodes } from "./thinking.ts";

/** What the graph holds, is given and gives back. LangGraph checks everything that is written against these schemas. */
const CHECKED = {
  state: SessionState,
  input: SessionInput,
  output: SessionOutput,
  context: sessionContextSchema,
};

/** The same without the checks: what is written by Lily's own nodes the compiler has checked. */
const UNCHECKED = {
  ...CHECKED,
  state: SessionState.getChannels(),
  input: SessionInput.getChannels(),
  output: SessionOutput.getChannels(),
  context: undefined,
} as unknown as typeof CHECKED;

const modelNodesOf = (deps: SessionDeps) => modelNodes(deps, askModel(deps));

/** The graph, not compiled. */
function buildSessionGraph(deps: SessionDeps, models: ReturnType<typeof modelNodesOf>, schemas = CHECKED) {
  const fail = recordFailure(deps);
  const straight = straightWay(deps, models.answerAtOnce);
  return new StateGraph(schemas)
    .addNode("admit", straight(admit(deps), afterAdmit), {
      ends: ["runCommand", "handOff", "prepareTurn", "decideRollover", "commit", END],
    })
    .addNode("decideRollover", straight(decideRollover(deps), afterDecision), {
      ends: ["rotate", "commit", "prepareTurn"],
    })
    .addNode("rotate", routed(rotate(deps), afterRotation), { ends: ["handOff", END] })
    .addNode("handOff", handOff(deps))
    .addNode("runCommand", routed(runCommand(deps), afterCommand), { ends: ["decideRollover", END] })
    .addNode("prepareTurn", straight(prepareTurn(deps), toSolver), {
      ends: ["callModel", "solveSymbolically"],
    })
    .addNode("callModel", straight(models.callModel, afterSolver), { ends: ["runTools", "commit"] })
    .addNode("runTools", routed(storedBefore(deps, runTools(deps)), afterTools), {
      ends: ["runTools", "callModel", "commit"],
    })
    .addNode("solveSymbolically", straight(solveSymbolically(deps), afterSolver), { ends: ["commit"] })
    .addNode("commit", routed(commit(deps), afterCommit), { ends: ["rotate", "handOff", END] })
    .addEdge(START, "admit")
    .addEdge("handOff", END)
    .setNodeDefaults({
      // Every node of this graph takes the whole state.
      errorHandler: (state: unknown, failure: NodeError, runtime) =>
        fail(state as SessionStateValues, failure, runtime as NodeRuntime | undefined),
    });
}

/** The graph on a checkpointer and a store. A server sets its own on every request. */
export function compileSessionGraph(
  deps: SessionDeps,
  storage: { readonly checkpointer?: BaseCheckpointSaver; readonly store?: BaseStore } = {},
) {
  return buildSessionGraph(deps, modelNodesOf(deps)).compile({ ...storage, name: "session" });
}

/** The channel whose change makes LangGraph run a node. */
const TO_ADMIT = "branch:to:admit";

/**
 * The same for runs that nobody watches step by step: a message goes straight to `admit`, without the step in which
 * LangGraph's `__start__` does nothing but hand it on. A point of it is read by the other graph, and the other way round.
 */
export function compileForRuns(
  deps: SessionDeps,
  storage: { readonly checkpointer: BaseCheckpointSaver; readonly store: BaseStore },
): RunGraph {
  const models = modelNodesOf(deps);
  const graph = buildSessionGraph(deps, models, UNCHECKED).compile({ ...storage, name: "session" });
  graph.inputChannels = ["messages", TO_ADMIT];
  return { graph, inputOf: (messages) => ({ messages, [TO_ADMIT]: START }), runEnded: models.runEnded };
}

/** A graph with what it takes for messages. */
export interface RunGraph {
  readonly graph: CompiledSessionGraph;
  readonly inputOf: (messages: BaseMessage[]) => { readonly messages: BaseMessage[] };
  /** To be called when a run on a thread has ended, however. */
  readonly runEnded: (threadId: string) => void;
}

/** The compiled graph. */
export type CompiledSessionGraph = ReturnType<typeof compileSessionGraph>;
