/** Takes knowledge units from the message of a turn, beside its answer; they count once the turn is committed. */
import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { errorMessage } from "#src/kernel/errors.ts";
import { estimateTokens } from "#src/kernel/tokens.ts";
import { askControlModel, type ControlAnswer } from "#src/models/ask-control-model.ts";
import { askForUnits, sentenceUnits, statesSomething } from "#src/preparation/units.ts";
import { BUILT_IN } from "#src/sessions/control-model.ts";
import { isInPhase, type KnowledgeUnit } from "#src/sessions/knowledge-units.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { controlModelOf } from "./policy-of.ts";
import { gateOf, scanWith } from "./run-memory.ts";
import type { TurnInFlight } from "./state.ts";

/** What was taken, and the tokens that it took. */
export interface Extraction extends Pick<TurnInFlight, "stagedUnits" | "extracted"> {
  readonly tokens: number;
}

/** Longest wait: what is late is none. */
const DEADLINE_MS = 3_000;

/** Units that the model is told are noted already. */
const MOST_KNOWN = 20;

/** Takes them. Never fails: an answer does not wait for what could not be noted. */
export async function extractUnits(
  deps: SessionDeps,
  {
    session,
    turn,
    signal,
  }: { readonly session: SessionFields; readonly turn: TurnInFlight; readonly signal: AbortSignal },
): Promise<Extraction> {
  const nothing = { stagedUnits: turn.stagedUnits, tokens: 0 };
  const { text } = turn;
  if (deps.extractsUnits === "off" || turn.modelCalls > 0 || !statesSomething(text)) return nothing;
  const model = deps.extractsUnits === "model" ? controlModelOf(deps, session).model : BUILT_IN;
  if (model === BUILT_IN) return { ...nothing, stagedUnits: await allowed(deps, sentenceUnits(text)) };
  let tokens = 0;
  const ask = async (instruction: string, data: string): Promise<ControlAnswer> => {
    const question = [new SystemMessage(instruction), new HumanMessage(data)];
    const answer = await askControlModel(
      { models: deps.models, model, deadlineMs: DEADLINE_MS, signal },
      question,
    );
    const said = answer.kind === "text" ? answer.text : "";
    tokens = (answer.kind === "text" ? answer.tokens : 0) || estimateTokens(`${instruction}${data}${said}`);
    return answer;
  };
  const noted = (session.units ?? []).filter((unit) => isInPhase(unit, "sd-plugin"));
  const known = noted.slice(-MOST_KNOWN).map(({ claim }) => claim);
  try {
    const units = await askForUnits({ text, known }, ask);
    return { stagedUnits: await allowed(deps, units), tokens, extracted: { by: model, tokens } };
  } catch (error) {
    return { ...nothing, tokens, extracted: { by: model, tokens, why: errorMessage(error) } };
  }
}

/** What a key or token of a service looks like; the scanner that knows them takes long to load, and most text has none. */
const TOKEN_LIKE = /(?=\S*[\p{N}:@=_])\S{12,}/u;

/** What the policy lets be kept: no secrets, which later prompts would repeat. */
async function allowed(deps: SessionDeps, units: readonly KnowledgeUnit[]): Promise<KnowledgeUnit[]> {
  const scan = scanWith(deps);
  const gate = gateOf({ scanSecrets: async (text) => (TOKEN_LIKE.test(text) ? scan(text) : []) });
  const judged = units.map(async (unit) => {
    // A gate that cannot be asked lets nothing through.
    const verdict = await gate(`${unit.topic} ${unit.claim}`.trim()).catch(() => undefined);
    return verdict?.action === "allow" ? [unit] : [];
  });
  return (await Promise.all(judged)).flat();
}
