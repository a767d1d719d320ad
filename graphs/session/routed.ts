/** Nodes that say themselves where the turn goes: a conditional edge costs LangGraph a copy of the state and two calls. */
import { Command } from "@langchain/langgraph";
import { reduceMessages, type MessagesUpdate } from "./messages.ts";
import type { SessionStateValues, SessionUpdate } from "./state.ts";

type Node<Runtime, Result> = (state: SessionStateValues, runtime: Runtime) => Promise<Result>;

/** The state as it is after `update`. Only `messages` has a reducer; the rest is replaced. */
export function stateAfter(state: SessionStateValues, update: SessionUpdate): SessionStateValues {
  const { messages, ...rest } = update;
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  // Nodes write lists of messages, and overwrite nothing.
  return { ...state, ...given, messages: reduceMessages(state.messages, (messages ?? []) as MessagesUpdate) };
}

/** The same node, which goes where `edge` says of the state after it. */
export function routed<Runtime, Place extends string>(
  node: Node<Runtime, SessionUpdate>,
  edge: (after: SessionStateValues) => Place,
): Node<Runtime, Command<unknown, SessionUpdate, Place>> {
  return async (state, runtime) => {
    const update = await node(state, runtime);
    return new Command({ update, goto: edge(stateAfter(state, update)) });
  };
}
