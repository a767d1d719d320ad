/** Which node follows which: read from the state, decided nowhere else. */
import { AIMessage } from "@langchain/core/messages";
import { END } from "@langchain/langgraph";
import type { SessionStateValues } from "./state.ts";
import { messagesInFlight } from "./turn-messages.ts";

/** After `admit`: a reply ends the run; a read runs at once; a message for another session is handed off. */
export function afterAdmit(
  state: SessionStateValues,
): "runCommand" | "handOff" | "prepareTurn" | "decideRollover" | typeof END {
  const { turn, reply } = state;
  if (reply !== null || turn === null) return END;
  if (turn.command?.readOnly === true && state.session !== null) return "runCommand";
  if (turn.latest !== null) return "handOff";
  // A turn whose tools had begun before a crash goes on in the session in which they ran.
  return turn.modelCalls > 0 ? "prepareTurn" : "decideRollover";
}

/** After `decideRollover`. */
export function afterDecision(state: SessionStateValues): "rotate" | "runCommand" | "prepareTurn" {
  if (state.verdict?.action === "rotate") return "rotate";
  return state.turn?.command === null ? "prepareTurn" : "runCommand";
}

/** After `rotate`: hand the text on, or end when there is none. */
export function afterRotation(state: SessionStateValues): "handOff" | typeof END {
  return state.turn === null ? END : "handOff";
}

/** After `runCommand`: what changes something is committed. */
export function afterCommand(state: SessionStateValues): "commit" | typeof END {
  return state.turn === null ? END : "commit";
}

/** After `assembleContext`: the goal solver. */
export function toSolver(state: SessionStateValues): "callModel" | "solveSymbolically" {
  return state.turn?.solver === "symbolic" ? "solveSymbolically" : "callModel";
}

/** After `callModel`: run the tools it asked for, or commit its answer. */
export function afterModel(state: SessionStateValues): "runTools" | "commit" {
  if (state.turn === null || state.turn.status === "stopped") return "commit";
  const last = messagesInFlight(state, state.turn).at(-1);
  if (!AIMessage.isInstance(last)) return "commit";
  const asked = (last.tool_calls ?? []).length + (last.invalid_tool_calls ?? []).length;
  return asked > 0 ? "runTools" : "commit";
}

/** After `runTools`: back to the model, unless the user stopped the turn. */
export function afterTools(state: SessionStateValues): "callModel" | "commit" {
  return state.turn?.status === "stopped" ? "commit" : "callModel";
}
