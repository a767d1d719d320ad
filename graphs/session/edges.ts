/** Which node follows which: read from the state, decided nowhere else. */
import { AIMessage } from "@langchain/core/messages";
import { END } from "@langchain/langgraph";
import type { SessionStateValues, TurnInFlight } from "./state.ts";
import { openCalls } from "./tool-calls.ts";
import { asksForTools, messagesInFlight } from "./turn-messages.ts";

/** After `admit`: a reply ends the run; a message for another session is handed off; a command is looked at first. */
export function afterAdmit(
  state: SessionStateValues,
): "runCommand" | "handOff" | "prepareTurn" | "decideRollover" | "commit" | typeof END {
  const { turn, reply, read } = state;
  if (reply !== null) return END;
  if (read !== null) return "runCommand";
  if (turn === null) return END;
  if (turn.latest !== null) return "handOff";
  if (turn.command !== null && !turn.command.rotates) return "runCommand";
  return goOn(state, turn) ?? "decideRollover";
}

/** A turn that a crash cut off after its model had answered goes on in the session in which it ran. */
function goOn(state: SessionStateValues, turn: TurnInFlight): "prepareTurn" | "commit" | undefined {
  const inFlight = messagesInFlight(state, turn);
  const last = inFlight.at(-1);
  if (AIMessage.isInstance(last) && !asksForTools(last)) return "commit";
  return inFlight.some((message) => AIMessage.isInstance(message)) ? "prepareTurn" : undefined;
}

/** After `runCommand`: what changes something is an inbound message like any other, before which time may say so. */
export function afterCommand(state: SessionStateValues): "decideRollover" | typeof END {
  return state.reply === null ? "decideRollover" : END;
}

/** After `decideRollover`. */
export function afterDecision(state: SessionStateValues): "rotate" | "commit" | "prepareTurn" {
  if (state.verdict?.action === "rotate") return "rotate";
  return state.turn?.command === null ? "prepareTurn" : "commit";
}

/** After `commit`: a turn that was replayed is answered in a session of its own. */
export function afterCommit(state: SessionStateValues): "rotate" | "handOff" | typeof END {
  if (state.turn === null) return END;
  return state.turn.latest === null ? "rotate" : "handOff";
}

/** After `rotate`: hand the text on, or end when there is none. */
export function afterRotation(state: SessionStateValues): "handOff" | typeof END {
  return state.turn === null ? END : "handOff";
}

/** After `prepareTurn`: the goal solver. */
export function toSolver(state: SessionStateValues): "callModel" | "solveSymbolically" {
  return state.turn?.solver === "symbolic" ? "solveSymbolically" : "callModel";
}

/** After a goal solver: run the tools it asked for, or commit its answer, also where a stop or a limit ended it. */
export function afterSolver(state: SessionStateValues): "runTools" | "commit" {
  if (state.turn === null || state.turn.status !== "completed") return "commit";
  const last = messagesInFlight(state, state.turn).at(-1);
  if (!AIMessage.isInstance(last)) return "commit";
  return asksForTools(last) ? "runTools" : "commit";
}

/** After `runTools`: the next open call, or back to the model, which judges the budget, unless the user stopped the turn. */
export function afterTools(state: SessionStateValues): "runTools" | "callModel" | "commit" {
  if (state.turn === null || state.turn.status !== "completed") return "commit";
  return openCalls(messagesInFlight(state, state.turn)).calls.length > 0 ? "runTools" : "callModel";
}
