/** Narrows the state for nodes that run inside a turn. */
import { LilyError } from "#src/kernel/errors.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import type { SessionStateValues, TurnInFlight } from "./state.ts";

/** Session and turn of a state inside a turn. @throws {LilyError} `internal` when a graph was wired wrongly */
export function requireTurn(state: Pick<SessionStateValues, "session" | "turn">): {
  session: SessionFields;
  turn: TurnInFlight;
} {
  if (state.session === null || state.turn === null) {
    throw new LilyError("internal", "this step runs only inside a turn", { next: "Send the message again." });
  }
  return { session: state.session, turn: state.turn };
}
