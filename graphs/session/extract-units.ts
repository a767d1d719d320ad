/** Takes knowledge units from the message of a turn, beside its answer; they count once the turn is committed. */
import type { SessionDeps } from "#src/app/session-deps.ts";
import { errorMessage } from "#src/kernel/errors.ts";
import { fallbackText, notable } from "#src/preparation/plugins.ts";
import { takenUnitsSchema } from "#src/preparation/units.ts";
import { claimsFor, type KnowledgeUnit } from "#src/sessions/knowledge-units.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import type { ControlCall } from "#src/sessions/turn-record.ts";
import type { PolicyVerdict } from "#memory/policy/verdict.ts";
import { controlModelOf } from "./policy-of.ts";
import { lendContext, runSlot } from "./prepare-turn.ts";
import { gateOf, scanWith } from "./run-memory.ts";
import type { TurnInFlight } from "./state.ts";

/** What was taken, the tokens that it took, and what is told of who took it. */
export interface Extraction extends Pick<TurnInFlight, "stagedUnits" | "extracted" | "plugins" | "notice"> {
  readonly tokens: number;
  readonly controlCalls: readonly ControlCall[];
}

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
      notice: [notice, fallbackText(used)].filter(Boolean).join("\n") || null,
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
