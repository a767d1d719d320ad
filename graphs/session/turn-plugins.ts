/** What the plugins of a turn bring: passages of documents (kb), knowledge units (sd), and the answer without a model (gs). */
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import { z } from "zod";
import type { FoundEvidence } from "#memory/evidence/evidence-book.ts";
import { DEFAULT_KB } from "#memory/namespaces.ts";
import type { PolicyVerdict } from "#memory/policy/verdict.ts";
import { shortId } from "#memory/record.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { choosePassages, rounded } from "#src/context/found-sections.ts";
import { errorMessage } from "#src/kernel/errors.ts";
import { joined } from "#src/kernel/markdown.ts";
import {
  type Chosen,
  failedChoice,
  fallbackText,
  notable,
  type Shelf,
  type TurnPlan,
} from "#src/preparation/plugins.ts";
import { takenUnitsSchema } from "#src/preparation/built-in.ts";
import { claimsFor, type KnowledgeUnit } from "#src/sessions/knowledge-units.ts";
import { type UsedPlugin, usedPluginSchema } from "#src/sessions/plugin-choices.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { firstTurns } from "#src/sessions/transcript.ts";
import {
  type AnswerSource,
  answerSourceSchema,
  type ControlCall,
  type LeftCandidate,
  MAX_LEFT,
} from "#src/sessions/turn-record.ts";
import { solveSymbolically, type SymbolicGoal } from "#src/turns/solvers/symbolic.ts";
import { controlModelOf, pluginFor, policyOf } from "./policy-of.ts";
import { inTime, lendContext, runSlot } from "./prepare-turn.ts";
import type { CallToPlan } from "./plan-call.ts";
import type { RunContext } from "./run-context.ts";
import {
  evidenceOf,
  factsInHand,
  gateOf,
  memoryOwner,
  questionIn,
  recallBudget,
  scanWith,
} from "./run-memory.ts";
import type { TurnInFlight } from "./state.ts";

/** Passages that a turn is given at most. */
const GIVEN = 3;

/** Passages for a turn, the plugin that found them, and what became of the knowledge bases. */
interface TurnEvidence {
  readonly found: readonly FoundEvidence[];
  readonly used?: UsedPlugin;
  /** Those that are still mounted, where some are gone. */
  readonly kbs?: readonly string[];
  readonly notices: readonly string[];
  /** The best of the passages that were looked at and are not given. */
  readonly notGiven: readonly LeftCandidate[];
}

/**
 * The passages that fit what a turn looks for, of the knowledge bases that are mounted; the default one, of all documents that
 * were given for none by name, is unless it was unmounted. Each costs one read where it has no document.
 */
export async function evidenceForTurn(
  deps: SessionDeps,
  { store }: RunContext,
  { session, plan }: { readonly session: SessionFields; readonly plan: TurnPlan },
): Promise<TurnEvidence> {
  const book = evidenceOf(deps, store);
  const { evidenceTokens } = deps.limits;
  const { timeZone } = policyOf(deps, session);
  const owner = memoryOwner(deps, session);
  const nothing = { found: [], notices: [], notGiven: [] };
  if (book === undefined || owner === undefined || evidenceTokens === 0) return nothing;
  const who = { owner };
  const mounted = mountedKbs(session);
  const filled = await Promise.all(mounted.map((kb) => book.of(kb).hasAny(who)));
  const gone = mounted.filter((kb, at) => kb !== DEFAULT_KB && filled[at] !== true);
  const left =
    gone.length === 0
      ? { notices: [] }
      : { kbs: mounted.filter((kb) => !gone.includes(kb)), notices: gone.map(goneText) };
  const searched = mounted.filter((_kb, at) => filled[at] === true);
  if (searched.length === 0 || !plan.phases.includes("kb-plugin")) return { ...nothing, ...left };
  const { value, used } = await runSlot(deps, session, "kb", async (plugin) => {
    const given = new Map<string, FoundEvidence>();
    const shelf: Shelf = {
      knowsMeaning: deps.searchesByMeaning === true,
      async search(query, limit) {
        const passages = await book.search(who, questionIn(query), limit, searched);
        for (const one of passages) given.set(nameOf(one), one);
        return passages;
      },
    };
    const passages = await plugin.search(plan.queries, shelf);
    const found = passages.flatMap((one) => given.get(nameOf(one)) ?? []);
    return { found, looked: [...given.values()] };
  });
  const { found, looked } = value;
  const given = choosePassages(found.slice(0, GIVEN), recallBudget(deps.limits, evidenceTokens), timeZone);
  return { found: given, ...left, used, notGiven: notGivenOf(looked, { found, given }) };
}

/** Those that the plugin did not choose fit worse; of the others there are enough, or there is no room. */
function notGivenOf(
  looked: readonly FoundEvidence[],
  { found, given }: Record<"found" | "given", readonly FoundEvidence[]>,
): LeftCandidate[] {
  return looked
    .filter((one) => !given.includes(one))
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MAX_LEFT)
    .map((one): LeftCandidate => {
      const { source_id, index } = one.piece;
      const rule = !found.includes(one) ? "weak" : found.indexOf(one) < GIVEN ? "room" : "most";
      return ["passage", `${index + 1} of ${shortId(source_id)}`, rule, rounded(one.score)];
    });
}

function goneText(kb: string): string {
  return `The knowledge base “${kb}” has no documents any more; it is not mounted here from now on.`;
}

/** The knowledge bases of a session. */
function mountedKbs({ kbs = [DEFAULT_KB] }: Pick<SessionFields, "kbs">): readonly string[] {
  return kbs;
}

const nameOf = ({ piece }: FoundEvidence): string => `${piece.source_id}/${piece.version}/${piece.index}`;

/** The units of a message, the tokens that they took, and what is told of who took them. */
interface Extraction extends Pick<TurnInFlight, "stagedUnits" | "extracted" | "plugins" | "notice"> {
  readonly tokens: number;
  readonly controlCalls: readonly ControlCall[];
}

/** Takes the units of a message. Never fails: an answer does not wait for what could not be noted. */
export async function extractUnits(
  deps: SessionDeps,
  {
    session,
    turn,
    signal,
  }: { readonly session: SessionFields; readonly turn: TurnInFlight; readonly signal: AbortSignal },
): Promise<Extraction> {
  const { stagedUnits, notice, text, number } = turn;
  const nothing = { stagedUnits, notice, tokens: 0, controlCalls: [] };
  if (deps.extractsUnits === "off" || turn.modelCalls > 0) return nothing;
  const { model } = controlModelOf(deps, session);
  const noted = claimsFor("sd-plugin", session.units);
  const context = lendContext(deps, session, { what: "units", noted, signal });
  const message = { text, sessionId: session.sessionId, turn: number, earlier: [] };
  try {
    const { value, used } = await runSlot(
      deps,
      session,
      "sd",
      async (plugin) => takenUnitsSchema.parse(await plugin.extractUnits(message, context)),
      context.isLate,
    );
    const plugins = notable({ sd: used });
    const { kept, denied } = await judged(deps, value);
    const tokens = context.tokens();
    return {
      stagedUnits: kept,
      tokens,
      controlCalls: context.calls(),
      ...(tokens === 0 && denied.length === 0
        ? {}
        : {
            extracted: {
              by: tokens === 0 ? "sentences" : model,
              ...(tokens === 0 ? {} : { tokens }),
              ...(denied.length === 0 ? {} : { denied }),
            },
          }),
      ...(plugins === undefined ? {} : { plugins: { ...turn.plugins, ...plugins } }),
      notice: joined([notice ?? "", fallbackText(used)], "\n") || null,
    };
  } catch (error) {
    const extracted = { by: model, tokens: context.tokens(), why: errorMessage(error) };
    return { ...nothing, tokens: extracted.tokens, controlCalls: context.calls(), extracted };
  }
}

/** What a key or token of a service looks like; the scanner that knows them takes long to load, and most text has none. */
const TOKEN_LIKE = /(?=\S*[\p{N}:@=_])\S{12,}/u;

/** What the policy lets be kept: no secrets, which later prompts would repeat; and of the rest the rules. */
async function judged(
  deps: SessionDeps,
  units: readonly KnowledgeUnit[],
): Promise<{ kept: KnowledgeUnit[]; denied: string[] }> {
  const scan = scanWith(deps);
  const gate = gateOf({ scanSecrets: async (text) => (TOKEN_LIKE.test(text) ? scan(text) : []) });
  const verdicts = await Promise.all(
    // A gate that cannot be asked lets nothing through.
    units.map(({ topic, claim }) => gate(`${topic} ${claim}`.trim()).catch(() => undefined)),
  );
  const rules = verdicts.map(ruleAgainst);
  return {
    kept: units.filter((_unit, index) => rules[index] === undefined),
    denied: rules.filter((rule) => rule !== undefined),
  };
}

function ruleAgainst(verdict: PolicyVerdict | undefined): string | undefined {
  switch (verdict?.action) {
    case undefined:
      return "gate_failed";
    case "deny":
      return verdict.denial.rule;
    case "quarantine":
      return verdict.rule;
    case "allow":
      return undefined;
  }
}

/** Newest turns in which an answer is looked for. */
const SEARCHED_TURNS = 500;

/** The model for one turn: it looks in the conversation, in all that is remembered, and in the passages of the prompt. */
export function symbolicModel(
  deps: SessionDeps,
  run: RunContext,
  { turn, call }: { readonly turn: TurnInFlight; readonly call: Pick<CallToPlan, "older" | "sources"> },
): SymbolicChatModel {
  const { older, sources } = call;
  const { chain, evidence, session } = sources;
  return new SymbolicChatModel(async () =>
    solveBy(pluginFor(deps, session, "gs"), {
      text: turn.text,
      turns: await firstTurns(older.newestFirst(), SEARCHED_TURNS),
      sessionId: session.sessionId,
      timeZone: policyOf(deps, session).timeZone,
      units: sources.turn.units,
      memories: await factsInHand(deps, run, { chain, session, turn }),
      evidence,
    }),
  );
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
export function sourcesOf({ additional_kwargs: said }: AIMessage): AnswerSource[] | undefined {
  return z.array(answerSourceSchema).min(1).safeParse(said["sources"]).data;
}

/** Text of an answer, and the places that it rests on, which its message carries as `additional_kwargs`. */
interface LookedUpAnswer {
  readonly text: string;
  readonly sources: readonly unknown[];
  readonly gs?: UsedPlugin;
}

/** Answers the last message by what `lookUp` finds. */
class SymbolicChatModel extends BaseChatModel {
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
