/** What answers a turn where no model is configured, as a chat model like any other. */
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import { z } from "zod";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { newestTurns } from "#src/sessions/transcript.ts";
import { type AnswerSource, answerSourceSchema } from "#src/sessions/turn-record.ts";
import { solveSymbolically, type SymbolicGoal } from "#src/turns/solvers/symbolic.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { notedIn, type PromptSources } from "./prompt.ts";
import { failedChoice, type Chosen } from "#src/preparation/plugins.ts";
import { usedPluginSchema, type UsedPlugin } from "#src/sessions/plugin-choices.ts";
import { pluginFor, policyOf } from "./policy-of.ts";
import { inTime } from "./prepare-turn.ts";
import { factsInHand } from "./run-memory.ts";
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
    return solveBy(pluginFor(deps, session, "gs"), {
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

const answerSchema = z.object({
  text: z.string().trim().min(1),
  sources: z.array(answerSourceSchema).optional(),
});

/** What a solver of a file may take: it gives the answer that a person waits for, and may ask somebody itself. */
const SOLVER_MS = 30_000;

/** The answer of a plugin; of the built-in solver where that fails or is late, which the answer then says. */
async function solveBy(chosen: Chosen<"gs">, goal: SymbolicGoal): Promise<LookedUpAnswer> {
  const { solve } = chosen.plugin;
  if (solve === undefined || solve === solveSymbolically) return solveSymbolically(goal);
  try {
    const { text, sources = [] } = answerSchema.parse(await inTime(chosen.plugin, solve(goal), SOLVER_MS));
    return { text, sources };
  } catch (error) {
    const gs = { name: "gs-symbolic", from: "built-in" as const, instead: failedChoice(chosen, error) };
    return { ...solveSymbolically(goal), gs };
  }
}

/** The solver that took the place of the chosen one, where one did. */
export function solverOfAnswer({ additional_kwargs: said }: AIMessage): UsedPlugin | undefined {
  return usedPluginSchema.safeParse(said["gs"]).data;
}

/** What an answer says that it rests on; other models say nothing of it. */
export function sourcesOf({ additional_kwargs: said }: AIMessage): AnswerSource[] {
  return z.array(answerSourceSchema).safeParse(said["sources"]).data ?? [];
}

/** Text of an answer, and the places that it rests on, which its message carries as `additional_kwargs`. */
export interface LookedUpAnswer {
  readonly text: string;
  readonly sources: readonly unknown[];
  readonly gs?: UsedPlugin;
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
    const { text, ...said } = await this.#lookUp();
    const message = new AIMessage({ content: text, additional_kwargs: said });
    return { generations: [{ text, message }] };
  }
}
