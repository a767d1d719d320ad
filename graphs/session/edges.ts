/** Which node follows which: read from the state, decided nowhere else. */
import { AIMessage } from "@langchain/core/messages";
import { END } from "@langchain/langgraph";
import type { SessionStateValues, TurnInFlight } from "./state.ts";
import { asksForTools, messagesInFlight, openCalls } from "./turn-messages.ts";

/** After `admit`: a reply or a hand-off ends the run; a command is looked at first; what had begun goes on. */
export function afterAdmit(
  state: SessionStateValues,
): "runCommand" | "decideRollover" | "assembleContext" | "runTools" | "commit" | typeof END {
  const { turn, reply, read } = state;
  if (reply !== null) return END;
  if (read !== null) return "runCommand";
  if (turn === null) return END;
  if (turn.command !== null && !turn.command.rotates) return "runCommand";
  return goOn(state, turn) ?? "decideRollover";
}

/** A turn that a crash cut off after its model had answered goes on in the session in which it ran. */
function goOn(
  state: SessionStateValues,
  turn: TurnInFlight,
): "assembleContext" | "runTools" | "commit" | undefined {
  const inFlight = messagesInFlight(state, turn);
  // A person is asked about one of them.
  if (openCalls(inFlight).calls.length > 0) return "runTools";
  const last = inFlight.at(-1);
  if (AIMessage.isInstance(last) && !asksForTools(last)) return "commit";
  return inFlight.some((message) => AIMessage.isInstance(message)) ? "assembleContext" : undefined;
}

/** After `runCommand`: what changes something is an inbound message like any other, before which time may say so. */
export function afterCommand(state: SessionStateValues): "decideRollover" | typeof END {
  return state.reply === null ? "decideRollover" : END;
}

/** After `decideRollover`. */
export function afterDecision(state: SessionStateValues): "rotate" | "commit" | "assembleContext" {
  if (state.verdict?.action === "rotate") return "rotate";
  return state.turn?.command === null ? "assembleContext" : "commit";
}

/** After `callModel`: run the tools that it asked for, or commit its answer, also where a stop or a limit ended it. */
export function afterModel(state: SessionStateValues): "runTools" | "commit" {
  if (state.turn === null || state.turn.status !== "completed") return "commit";
  const last = messagesInFlight(state, state.turn).at(-1);
  return AIMessage.isInstance(last) && asksForTools(last) ? "runTools" : "commit";
}

/** After `runTools`: the next open call, or back to the model, which judges the budget, unless the user stopped the turn. */
export function afterTools(state: SessionStateValues): "runTools" | "callModel" | "commit" {
  if (state.turn === null || state.turn.status !== "completed") return "commit";
  const messages = messagesInFlight(state, state.turn);
  const last = messages.at(-1);
  // It was written already, and the checkpoint did not know.
  if (AIMessage.isInstance(last) && !asksForTools(last)) return "commit";
  return openCalls(messages).calls.length > 0 ? "runTools" : "callModel";
}
