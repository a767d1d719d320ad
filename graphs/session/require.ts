/** What nodes inside a turn may count on: session, turn, chain. */
import { LilyError } from "#src/kernel/errors.ts";
import type { Chain } from "#src/sessions/chain.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import type { RunContext } from "./run-context.ts";
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

/** The chain of a session. @throws {LilyError} `record_invalid` when it is gone from the store */
export async function requireChain({ repository }: RunContext, session: SessionFields): Promise<Chain> {
  const chain = await repository.readChain(session);
  if (chain !== undefined) return chain;
  throw new LilyError(
    "record_invalid",
    `the chain of ${JSON.stringify(session.sessionKey)} is gone from the store`,
    {
      next: "Restore the store from a backup, or begin anew under another key.",
    },
  );
}

/** First turn that is context; `undefined` when the working set was never cleared in place. */
export function contextFrom(session: SessionFields, turn: TurnInFlight): number | undefined {
  return turn.clears === true ? turn.number : session.contextFrom;
}
