/** Takes knowledge units from the message of a turn, beside its answer; they count once the turn is committed. */
import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { errorMessage } from "#src/kernel/errors.ts";
import { estimateTokens } from "#src/kernel/tokens.ts";
import { askControlModel, type ControlAnswer } from "#src/models/ask-control-model.ts";
import { fallbackText, notable } from "#src/preparation/plugins.ts";
import { takenUnitsSchema } from "#src/preparation/units.ts";
import { BUILT_IN } from "#src/sessions/control-model.ts";
import { claimsFor, type KnowledgeUnit } from "#src/sessions/knowledge-units.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { controlModelOf } from "./policy-of.ts";
import { runSlot } from "./prepare-turn.ts";
import { gateOf, scanWith } from "./run-memory.ts";
import type { TurnInFlight } from "./state.ts";

/** What was taken, the tokens that it took, and what is told of who took it. */
export interface Extraction extends Pick<TurnInFlight, "stagedUnits" | "extracted" | "plugins" | "notice"> {
  readonly tokens: number;
}

/** Longest wait: what is late is none. */
const DEADLINE_MS = 3_000;

/** Takes them. Never fails: an answer does not wait for what could not be noted. */
export async function extractUnits(
  deps: SessionDeps,
  {
    session,
    turn,
    signal,
  }: { readonly session: SessionFields; readonly turn: TurnInFlight; readonly signal: AbortSignal },
): Promise<Extraction> {
  const { stagedUnits, notice, text, number } = turn;
  if (deps.extractsUnits === "off" || turn.modelCalls > 0) return { stagedUnits, notice, tokens: 0 };
  const { model } = controlModelOf(deps, session);
  let tokens = 0;
  let isLate = false;
  const ask = async (instruction: string, data: string): Promise<ControlAnswer> => {
    const question = [new SystemMessage(instruction), new HumanMessage(data)];
    const options = { models: deps.models, model, deadlineMs: DEADLINE_MS, signal };
    const answer = await askControlModel(options, question);
    const said = answer.kind === "text" ? answer.text : "";
    isLate = answer.kind === "none" && answer.isLate === true;
    tokens += (answer.kind === "text" ? answer.tokens : 0) || estimateTokens(`${instruction}${data}${said}`);
    return answer;
  };
  const noted = claimsFor("sd-plugin", session.units);
  const context = { ...(model === BUILT_IN ? {} : { ask }), noted };
  const message = { text, sessionId: session.sessionId, turn: number, earlier: [] };
  try {
    const { value, used } = await runSlot(
      deps,
      session,
      "sd",
      async (plugin) => takenUnitsSchema.parse(await plugin.extractUnits(message, context)),
      () => isLate,
    );
    const plugins = notable({ sd: used });
    return {
      stagedUnits: await allowed(deps, value),
      tokens,
      ...(tokens === 0 ? {} : { extracted: { by: model, tokens } }),
      ...(plugins === undefined ? {} : { plugins: { ...turn.plugins, ...plugins } }),
      notice: [notice, fallbackText(used)].filter(Boolean).join("\n") || null,
    };
  } catch (error) {
    return { stagedUnits, notice, tokens, extracted: { by: model, tokens, why: errorMessage(error) } };
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
