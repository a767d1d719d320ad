/** Nodes that say themselves where the turn goes: a conditional edge costs LangGraph a copy of the state and two calls. */
import type { BaseMessage } from "@langchain/core/messages";
import { Command } from "@langchain/langgraph";
import { reduceMessages } from "./messages.ts";
import type { SessionStateValues, SessionUpdate } from "./state.ts";

/** A node: from the state to a change of it. */
export type Node<Runtime, Update = SessionUpdate> = (
  state: SessionStateValues,
  runtime: Runtime,
) => Promise<Update>;

/** Where a node has come to. */
export interface Reached<Place extends string = string> {
  readonly update: SessionUpdate;
  /** The state after `update`. */
  readonly after: SessionStateValues;
  /** The node that comes next. */
  readonly goto: Place;
}

/** Which node follows, by the state after the one before it. */
export type Edge<Place extends string> = (after: SessionStateValues) => Place;

/** The state as it is after `update`. Only `messages` has a reducer; the rest is replaced. */
function stateAfter(state: SessionStateValues, update: SessionUpdate): SessionStateValues {
  const { messages: _added, ...rest } = update;
  const given = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const added = messagesIn(update);
  const messages = added.length === 0 ? state.messages : reduceMessages(state.messages, added);
  return { ...state, ...given, messages };
}

/** The messages of an update: nodes write lists of them, and overwrite nothing. */
export function messagesIn({ messages = [] }: SessionUpdate): BaseMessage[] {
  return messages as BaseMessage[];
}

/** The same node, which goes where `edge` says of the state after it. */
export function reaching<Runtime, Place extends string>(
  node: Node<Runtime>,
  edge: Edge<Place>,
): Node<Runtime, Reached<Place>> {
  return async (state, runtime) => reachedBy(await node(state, runtime), state, edge);
}

/** Where an update of a state has come to. */
export function reachedBy<Place extends string>(
  update: SessionUpdate,
  state: SessionStateValues,
  edge: Edge<Place>,
): Reached<Place> {
  const after = stateAfter(state, update);
  return { update, after, goto: edge(after) };
}

/** A node of LangGraph's out of one that says where it has come to. */
export function asCommand<Runtime, Place extends string>(
  node: Node<Runtime, Reached<Place>>,
): Node<Runtime, Command<unknown, SessionUpdate, Place>> {
  return async (state, runtime) => {
    const { update, goto } = await node(state, runtime);
    return new Command({ update, goto });
  };
}
