/** `solveSymbolically`: answers without a model, from the conversation's own turns. */
import { AIMessage } from "@langchain/core/messages";
import { newestTurns } from "#src/sessions/transcript.ts";
import { solveSymbolically as solve } from "#src/turns/solvers/symbolic.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { policyOf } from "../policy-of.ts";
import { assemblePrompt } from "../prompt.ts";
import { contextFrom, requireChain, requireTurn } from "../require.ts";
import { readRunContext, type NodeRuntime } from "../run-context.ts";
import type { SessionStateValues } from "../state.ts";
import type { Solved } from "../turn-draft.ts";

/** Newest turns in which an answer is looked for. */
const SEARCHED_TURNS = 500;

/** Makes the node. */
export function solveSymbolically(deps: SessionDeps) {
  return async (state: SessionStateValues, runtime: NodeRuntime): Promise<Solved> => {
    const { session, turn } = requireTurn(state);
    const run = readRunContext(deps, runtime);
    const chain = await requireChain(run, session);
    const turns = await newestTurns(run.repository, chain, {
      sessionId: session.sessionId,
      count: SEARCHED_TURNS,
      latestTurns: session.turns,
      from: contextFrom(session, turn),
    });
    // The prompt of the turn has read them already.
    const { recalled } = await assemblePrompt(deps, run, { session, turn, chain });
    const { timeZone } = policyOf(deps, session);
    const answer = solve({
      text: turn.text,
      turns,
      sessionId: session.sessionId,
      timeZone,
      memories: recalled.facts.records,
      evidence: recalled.evidence.found,
    });
    const { sources } = answer;
    return {
      turn: { ...turn, sources: [...sources] },
      messages: [new AIMessage({ content: answer.text, id: deps.ids.uuid() })],
    };
  };
}
