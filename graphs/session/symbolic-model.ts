/** What answers a turn where no model is configured, as a chat model like any other. */
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import { z } from "zod";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { newestTurns } from "#src/sessions/transcript.ts";
import { type AnswerSource, answerSourceSchema } from "#src/sessions/turn-record.ts";
import { solveSymbolically } from "#src/turns/solvers/symbolic.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { policyOf } from "./policy-of.ts";
import { notedIn, type PromptSources } from "./prompt.ts";
import { factsInHand } from "./recall-memory.ts";
import { requireChain, type RunContext } from "./run-context.ts";
import type { TurnInFlight } from "./state.ts";

/** Newest turns in which an answer is looked for. */
const SEARCHED_TURNS = 500;

/** The model for one turn: it looks in the conversation, in all that is remembered, and in the passages of the prompt. */
export function symbolicModel(
  deps: SessionDeps,
  run: RunContext,
  {
    session,
    turn,
    sources,
  }: { readonly session: SessionFields; readonly turn: TurnInFlight; readonly sources: PromptSources },
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
      units: notedIn(session, turn).units,
      memories: await factsInHand(deps, run, { chain, session, turn }),
      evidence: sources.evidence,
    });
  });
}

/** What an answer says that it rests on; other models say nothing of it. */
export function sourcesOf({ additional_kwargs: said }: AIMessage): AnswerSource[] {
  return z.array(answerSourceSchema).safeParse(said["sources"]).data ?? [];
}

/** Text of an answer, and the places that it rests on, which its message carries as `additional_kwargs.sources`. */
export interface LookedUpAnswer {
  readonly text: string;
  readonly sources: readonly unknown[];
}

/** Answers the last message by what `lookUp` finds. */
export class SymbolicChatModel extends BaseChatModel {
  readonly #lookUp: () => Promise<LookedUpAnswer>;

  constructor(lookUp: () => Promise<LookedUpAnswer>) {
    super({});
    this.#lookUp = lookUp;
  }

  override _llmType(): string {
    return "symbolic";
  }

  override async _generate(_messages: BaseMessage[]): Promise<ChatResult> {
    const { text, sources } = await this.#lookUp();
    const message = new AIMessage({ content: text, additional_kwargs: { sources } });
    return { generations: [{ text, message }] };
  }
}
