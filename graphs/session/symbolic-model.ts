/** What answers a turn where no model is configured, as a chat model like any other. */
import type { AIMessage } from "@langchain/core/messages";
import { z } from "zod";
import { SymbolicChatModel } from "#src/models/symbolic-chat-model.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { newestTurns } from "#src/sessions/transcript.ts";
import { answerSourceSchema, type AnswerSource } from "#src/sessions/turn-record.ts";
import { solveSymbolically } from "#src/turns/solvers/symbolic.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { policyOf } from "./policy-of.ts";
import type { Prompt } from "./prompt.ts";
import { requireChain, type RunContext } from "./run-context.ts";
import type { TurnInFlight } from "./state.ts";

/** Newest turns in which an answer is looked for. */
const SEARCHED_TURNS = 500;

/** The model for one turn: it looks in the conversation, and in the facts and passages of the prompt. */
export function symbolicModel(
  deps: SessionDeps,
  run: RunContext,
  {
    session,
    turn,
    prompt,
  }: { readonly session: SessionFields; readonly turn: TurnInFlight; readonly prompt: Prompt },
): SymbolicChatModel {
  return new SymbolicChatModel(async () => {
    const chain = await requireChain(run, session);
    const turns = await newestTurns(run.repository, chain, {
      sessionId: session.sessionId,
      count: SEARCHED_TURNS,
      latestTurns: session.turns,
      from: turn.clears === true ? turn.number : session.contextFrom,
    });
    return solveSymbolically({
      text: turn.text,
      turns,
      sessionId: session.sessionId,
      timeZone: policyOf(deps, session).timeZone,
      memories: prompt.facts,
      evidence: prompt.passages,
    });
  });
}

/** What an answer says that it rests on; other models say nothing of it. */
export function sourcesOf({ additional_kwargs: said }: AIMessage): AnswerSource[] {
  return z.array(answerSourceSchema).safeParse(said["sources"]).data ?? [];
}
