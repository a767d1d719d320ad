/**
 * The session graph for `runTurn`: the same nodes and edges, with less of LangGraph between them. Nobody watches these
 * runs step by step, so what LangGraph does for those who might is left out. See decision 0018.
 */
import type { BaseMessage } from "@langchain/core/messages";
import { END, START } from "@langchain/langgraph";
import type { BaseCheckpointSaver, BaseStore } from "@langchain/langgraph-checkpoint";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { streamParts } from "#src/models/stream-parts.ts";
import {
  buildSessionGraph,
  modelNodesOf,
  SESSION_SCHEMAS,
  type CompiledSessionGraph,
  type SessionGraphForm,
} from "./graph.ts";
import type { asCommand, Node, Reached } from "./routed.ts";
import type { NodeRuntime } from "./run-context.ts";
import { SessionInput, SessionOutput, SessionState } from "./state.ts";

/** A graph that takes messages to their end. */
export interface RunGraph {
  /** Runs it. What comes is what `graph.stream` gives with a list of modes: pairs of a mode and its part. */
  readonly stream: (
    messages: BaseMessage[],
    options: NonNullable<Parameters<CompiledSessionGraph["stream"]>[1]>,
  ) => AsyncIterable<[mode: string, part: unknown]>;
  /** To be called when a run on a thread has ended, however. */
  readonly runEnded: (threadId: string) => void;
}

/** The channel whose change makes LangGraph run a node. */
const channelTo = (node: string): string => `branch:to:${node}`;

/** Compiles it. */
export function compileForRuns(
  deps: SessionDeps,
  { checkpointer, store }: { readonly checkpointer: BaseCheckpointSaver; readonly store: BaseStore },
): RunGraph {
  const models = modelNodesOf(deps);
  const graph = buildSessionGraph(deps, models, LEAN).compile({
    checkpointer,
    // Where its nodes have the store under the lease of the run, LangGraph's own way to it is a loop of timers for nothing.
    ...(deps.fencedStore === undefined ? { store } : {}),
    name: "session",
  });
  // A message goes straight to `admit`, without the step in which `__start__` does nothing but hand it on.
  graph.inputChannels = ["messages", channelTo("admit")];
  for (const [name, node] of Object.entries(graph.nodes)) {
    // All that the graph is made of write by themselves.
    if (name !== START && node.isErrorHandler !== true) node.writers = [];
  }
  return {
    runEnded: models.runEnded,
    stream: (messages, options) => {
      const parts: AsyncIterable<unknown> = streamParts(
        graph,
        { messages, [channelTo("admit")]: START },
        options,
      );
      // As it is with a list of modes, which the type of the compiled graph leaves open.
      return parts as AsyncIterable<[mode: string, part: unknown]>;
    },
  };
}

/**
 * A node that hands LangGraph its writes itself: what it changed, and the channel of the node that comes next. Behind other
 * nodes three runnables take their command apart, each with a trace and a context of its own.
 */
function writingItself<Runtime, Place extends string>(
  node: Node<Runtime, Reached<Place>>,
): ReturnType<typeof asCommand<Runtime, Place>> {
  const writing: Node<Runtime, undefined> = async (state, runtime) => {
    const { update, goto } = await node(state, runtime);
    const changes = Object.entries(update).filter(([, value]) => value !== undefined);
    write(runtime, goto === END ? changes : [...changes, [channelTo(goto), goto]]);
    return undefined;
  };
  // Without writers behind it nobody looks at what it returns.
  return writing as unknown as ReturnType<typeof asCommand<Runtime, Place>>;
}

/** By what LangGraph's own writers write, under the name by which they find it. */
function write(runtime: unknown, writes: readonly (readonly [channel: string, value: unknown])[]): void {
  const { configurable } = runtime as NodeRuntime;
  const send = configurable?.["__pregel_send"];
  if (typeof send !== "function")
    throw new LilyError("internal", "LangGraph gave a node nothing to write to");
  Reflect.apply(send, undefined, [writes]);
}

/** What is written by Lily's own nodes the compiler has checked. */
const LEAN: SessionGraphForm = {
  schemas: {
    ...SESSION_SCHEMAS,
    state: SessionState.getChannels(),
    input: SessionInput.getChannels(),
    output: SessionOutput.getChannels(),
    context: undefined,
  } as unknown as typeof SESSION_SCHEMAS,
  asNode: writingItself,
};
