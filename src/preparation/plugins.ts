/** Plugins of turn preparation: what fills the four slots, which one a turn takes, and what happens when it fails. */
import { z } from "zod";
import { errorMessage } from "#src/kernel/errors.ts";
import { sliceWhole } from "#src/kernel/text.ts";
import type { KnowledgeUnit, UnitPhase } from "#src/sessions/knowledge-units.ts";
import {
  pluginNameSchema,
  SLOTS,
  type PluginChoices,
  type Slot,
  type UsedPlugin,
  type UsedPlugins,
} from "#src/sessions/plugin-choices.ts";
import type { SymbolicAnswer, SymbolicGoal } from "#src/turns/solvers/symbolic.ts";
import type { FoundEvidence } from "#memory/evidence/evidence-book.ts";

/** The message that a turn is prepared for. */
export interface TurnMessage {
  readonly text: string;
  readonly sessionId: string;
  /** Number of its turn in the session. */
  readonly turn: number;
  /** What the user said before it in the conversation, newest first; a few messages. */
  readonly earlier: readonly string[];
}

/** What a control model said, or why it said nothing. */
export type Asked =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "none"; readonly why: string };

/** What plugins are lent. */
export interface PluginContext {
  /** Asks the control model, which answers in time or not at all; absent where none is configured. */
  readonly ask?: ((instruction: string, data: string) => Promise<Asked>) | undefined;
  /** What is noted of the conversation already, as far as its slot may use it. */
  readonly noted?: readonly string[] | undefined;
}

/** What a turn looks for, and in which of its phases. */
export interface TurnPlan {
  readonly queries: readonly string[];
  /** Without `kb-plugin` no document is searched. */
  readonly phases: readonly UnitPhase[];
}

/** Takes from a message what later turns may use; it runs beside the answer, and is told nothing of earlier messages. */
export type ExtractUnits = (
  message: TurnMessage,
  context: PluginContext,
) => Promise<readonly KnowledgeUnit[]>;

/** The documents of the collections that are mounted. */
export interface Shelf {
  /** Passages that fit, best first: by their words, and where there is an embedder by their meaning too. */
  search(query: string, limit: number): Promise<readonly FoundEvidence[]>;
  /** There is an embedder. */
  readonly knowsMeaning: boolean;
}

interface PluginBase {
  readonly name: string;
  /** One line for `/plugins`. */
  readonly description: string;
  /** What it cannot do without: a control model, a model that answers, an embedder. */
  readonly needs?: "control-model" | "model" | "embedder";
  /** The file that it came from; absent where it comes with Lily. */
  readonly source?: string;
}

export interface PlannerPlugin extends PluginBase {
  readonly slot: "planner";
  plan(message: TurnMessage, context: PluginContext): TurnPlan | Promise<TurnPlan>;
}

export interface SeedPlugin extends PluginBase {
  readonly slot: "sd";
  readonly extractUnits: ExtractUnits;
}

export interface KbPlugin extends PluginBase {
  readonly slot: "kb";
  /** Passages for what the turn looks for, best first; only what the shelf gave counts. */
  search(queries: readonly string[], shelf: Shelf): Promise<readonly FoundEvidence[]>;
}

export interface SolverPlugin extends PluginBase {
  readonly slot: "gs";
  /** The answer; absent: the reply model gives it. */
  solve?(goal: SymbolicGoal): SymbolicAnswer | Promise<SymbolicAnswer>;
}

/** A plugin of one of the four slots. */
export type Plugin = PlannerPlugin | SeedPlugin | KbPlugin | SolverPlugin;

/** The plugins of a slot. */
export type PluginOf<S extends Slot> = Extract<Plugin, { readonly slot: S }>;

/** A plugin that could not be loaded. */
export interface PluginProblem {
  /** Full path of its file. */
  readonly path: string;
  readonly reason: string;
}

/** All plugins, those that come with Lily first, and what was left out. */
export interface PluginRegistry {
  readonly plugins: readonly Plugin[];
  readonly problems: readonly PluginProblem[];
}

const METHODS = { planner: "plan", sd: "extractUnits", kb: "search", gs: "solve" } as const satisfies Record<
  Slot,
  string
>;

const loadedSchema = z.looseObject({
  slot: z.enum(SLOTS, `slot is one of ${SLOTS.join(", ")}`),
  name: pluginNameSchema,
  description: z.string().trim().min(1).max(200),
});

/** The registry with what a file gave: its default export, one plugin or several. What is none is told, and left out. */
export function withLoaded(registry: PluginRegistry, path: string, exported: unknown): PluginRegistry {
  const plugins = [...registry.plugins];
  const problems = [...registry.problems];
  for (const value of Array.isArray(exported) ? exported : [exported]) {
    const loaded = loadedFrom(value, path, plugins);
    if (typeof loaded === "string") problems.push({ path, reason: loaded });
    else plugins.push(loaded);
  }
  return { plugins, problems };
}

/** The plugin, or why it is none. */
function loadedFrom(value: unknown, source: string, known: readonly Plugin[]): Plugin | string {
  const parsed = loadedSchema.safeParse(value);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const where = issue?.path.join(".") ?? "";
    return where === "" ? "its default export is no plugin" : `${where}: ${issue?.message}`;
  }
  const { slot, name, description } = parsed.data;
  const method = (value as Readonly<Record<string, unknown>>)[METHODS[slot]];
  if (typeof method !== "function") return `a plugin of slot ${slot} needs a function ${METHODS[slot]}`;
  const same = known.find((plugin) => plugin.name === name);
  if (same !== undefined)
    return `there is a plugin ${name} already, ${same.source ?? "which comes with Lily"}`;
  // It may be an instance of a class.
  return { slot, name, description, source, [METHODS[slot]]: method.bind(value) } as unknown as Plugin;
}

/** What each level names; a level that names nothing is passed over. */
export interface PluginSources {
  readonly session?: PluginChoices | undefined;
  readonly key?: PluginChoices | undefined;
  readonly agent?: PluginChoices | undefined;
  readonly config?: PluginChoices | undefined;
  /** What comes with Lily and needs nobody's choice, in the order in which it is tried. */
  readonly builtIn: Readonly<Record<Slot, readonly string[]>>;
}

/** A name with the level that gave it. */
export type Candidate = Pick<UsedPlugin, "name" | "from">;

/** The plugins of a slot in the order in which they are tried: session, key, agent, config, built-in. */
export function candidatesOf(slot: Slot, { builtIn, ...levels }: PluginSources): Candidate[] {
  const named = (["session", "key", "agent", "config"] as const).flatMap((from): Candidate[] => {
    const name = levels[from]?.[slot];
    return name === undefined ? [] : [{ name, from }];
  });
  const byItself = builtIn[slot].map((name): Candidate => ({ name, from: "built-in" }));
  const all = [...named, ...byItself];
  return all.filter(({ name }, at) => all.findIndex((other) => other.name === name) === at);
}

/** What there is to work with. */
export type Surroundings = Readonly<Record<NonNullable<PluginBase["needs"]>, boolean>>;

/** Why a plugin cannot be used here; `undefined` when it can. */
export function unusable({ needs }: Plugin, there: Surroundings): string | undefined {
  return needs === undefined || there[needs] ? undefined : LACKS[needs];
}

const LACKS: Readonly<Record<keyof Surroundings, string>> = {
  "control-model": "no control model is configured: /control-model or agents.defaults.controlModel names one",
  model: "no model is configured: /model or OPENAI_API_KEY names one",
  embedder: "there is no embedder: memory.embedder names one",
};

/** The plugin of a slot that a turn takes, those passed over with it, and those that are left if it fails. */
export interface Chosen<S extends Slot> {
  readonly plugin: PluginOf<S>;
  readonly used: UsedPlugin;
  readonly rest: readonly Candidate[];
}

/** The first of `candidates` that exists and can be used; `undefined` when none can. */
export function choosePlugin<S extends Slot>(
  { plugins }: Pick<PluginRegistry, "plugins">,
  slot: S,
  from: {
    readonly candidates: readonly Candidate[];
    readonly there: Surroundings;
    readonly instead?: UsedPlugin["instead"];
  },
): Chosen<S> | undefined {
  const passed = [...(from.instead ?? [])];
  for (const [at, candidate] of from.candidates.entries()) {
    const { name } = candidate;
    const plugin = plugins.find((one): one is PluginOf<S> => one.slot === slot && one.name === name);
    const why = plugin === undefined ? "there is no such plugin" : unusable(plugin, from.there);
    if (plugin === undefined || why !== undefined) {
      passed.push({ name, why: why ?? "" });
      continue;
    }
    const used = { ...candidate, ...(passed.length === 0 ? {} : { instead: passed }) };
    return { plugin, used, rest: from.candidates.slice(at + 1) };
  }
  return undefined;
}

const MAX_WHY = 200;

/** A choice that failed, beside those before it, for the next one's `instead`. */
export function failedChoice(
  { used }: { readonly used: UsedPlugin },
  error: unknown,
): NonNullable<UsedPlugin["instead"]> {
  const why = sliceWhole(errorMessage(error).replaceAll(/\s+/gu, " ").trim(), 0, MAX_WHY);
  return [...(used.instead ?? []), { name: used.name, why }];
}

/** What the user is told of a slot whose plugin could not be used; `undefined` when it was. */
export function fallbackText({ name, instead = [] }: UsedPlugin): string | undefined {
  if (instead.length === 0) return undefined;
  const passed = instead.map((one) => `${one.name} was not used (${one.why})`).join("; ");
  return `${passed}; ${name} took its place.`;
}

/** The slots that need saying: all but those of plugins that nobody chose and that worked. */
export function notable(used: Readonly<Partial<Record<Slot, UsedPlugin>>>): UsedPlugins | undefined {
  const told = Object.entries(used).filter(([, one]) => one.from !== "built-in" || one.instead !== undefined);
  return told.length === 0 ? undefined : Object.fromEntries(told);
}

/** The key's defaults after a turn that succeeded: what the person had chosen for it, and what worked. */
export function defaultsAfter(
  before: PluginChoices | undefined,
  used: UsedPlugins | undefined,
): PluginChoices | undefined {
  const chosen = Object.entries(used ?? {}).filter(
    ([, { from, instead }]) => from === "session" && instead === undefined,
  );
  return chosen.length === 0
    ? before
    : { ...before, ...Object.fromEntries(chosen.map(([slot, { name }]) => [slot, name])) };
}
