/** Prepares a turn: its plugins, and what it looks for. What cannot be used gives way, and is told. */
import { HumanMessage, SystemMessage } from "@langchain/core/messages";
import { z } from "zod";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { orAborted, toInstant } from "#src/kernel/clock.ts";
import { defined } from "#src/kernel/json.ts";
import { estimateTokens } from "#src/kernel/text.ts";
import { askControlModel, type ControlAnswer } from "#src/models/ask-control-model.ts";
import {
  failedChoice,
  type Chosen,
  type Plugin,
  type PluginContext,
  type PluginOf,
  type TurnPlan,
} from "#src/preparation/plugins.ts";
import { BUILT_IN } from "#src/sessions/rollover-policy.ts";
import { claimsFor, UNIT_PHASES } from "#src/sessions/knowledge-units.ts";
import type { Slot, UsedPlugin } from "#src/sessions/plugin-choices.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import type { ControlCall } from "#src/sessions/turn-record.ts";
import { controlModelOf, modelOf, pluginFor } from "./policy-of.ts";
import { notedIn } from "./prompt.ts";
import type { TurnInFlight } from "./state.ts";

/** What is decided before anything is looked up: who answers, by which plugins, and what is looked for. */
export interface PreparedTurn {
  /** What answers: a model reference, or `symbolic` for a solver without a model. */
  readonly solver: string;
  /** The plugin of each slot that was asked so far, with who chose it and what it took the place of. */
  readonly plugins: Readonly<Record<"planner" | "gs", UsedPlugin>>;
  readonly plan: TurnPlan;
  /** What preparing it took. */
  readonly tokens: number;
  readonly controlCalls: readonly ControlCall[];
}

/**
 * Prepares the turn in flight. With the built-in plugins it calls no model and reads nothing.
 *
 * @param earlier what the user said before it, newest first; a few messages
 */
export async function prepareTurn(
  deps: SessionDeps,
  { session, turn }: { readonly session: SessionFields; readonly turn: TurnInFlight },
  earlier: readonly string[],
): Promise<PreparedTurn> {
  const { sessionId } = session;
  const message = { text: turn.text, sessionId, turn: turn.number, earlier };
  const noted = claimsFor("planner-plugin", notedIn(session, turn).units);
  const signal = deps.stops.signalFor(sessionId);
  const context = lendContext(deps, session, { what: "plan", noted, signal });
  const planner = await runSlot(deps, session, "planner", async (plugin) =>
    planSchema.parse(await plugin.plan(message, context)),
  );
  const solver = pluginFor(deps, session, "gs");
  const model = solver.plugin.solve === undefined ? modelOf(deps, session) : "symbolic";
  return {
    solver: model,
    plugins: { planner: planner.used, gs: solver.used },
    plan: planner.value,
    tokens: context.tokens(),
    controlCalls: context.calls(),
  };
}

const planSchema = z.object({
  queries: z.array(z.string()).min(1).max(8),
  phases: z.array(z.enum(UNIT_PHASES)),
});

/**
 * Runs the plugin of a slot; where it fails or is late, the next one, unless there is no time left for one.
 *
 * @throws what the last one throws
 */
export async function runSlot<S extends Slot, T>(
  deps: SessionDeps,
  session: SessionFields,
  slot: S,
  run: (plugin: PluginOf<S>) => Promise<T>,
  isOver = (): boolean => false,
): Promise<{ readonly value: T; readonly used: UsedPlugin }> {
  let chosen: Chosen<S> = pluginFor(deps, session, slot);
  for (;;) {
    try {
      return { value: await inTime(chosen.plugin, run(chosen.plugin)), used: chosen.used };
    } catch (error) {
      if (chosen.rest.length === 0 || isOver()) throw error;
      chosen = pluginFor(deps, session, slot, { rest: chosen.rest, instead: failedChoice(chosen, error) });
    }
  }
}

/** What one plugin may take, and the control model for it. */
const PLUGIN_MS = 3_000;

/** What comes of a plugin of a file within its time; Lily's own end by themselves. @throws {Error} when it is late */
export async function inTime<T>({ source }: Plugin, work: T | Promise<T>, limitMs = PLUGIN_MS): Promise<T> {
  if (source === undefined) return work;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new Error(`it did not end within ${limitMs / 1000} s`)), limitMs);
  try {
    return await orAborted(Promise.resolve(work), { signal: late.signal });
  } finally {
    clearTimeout(timer);
  }
}

/** What plugins are lent, and what asking took so far. */
export interface LentContext extends PluginContext {
  /** As the model counted them, or as estimated. */
  readonly tokens: () => number;
  readonly calls: () => readonly ControlCall[];
  /** The control model had its time. */
  readonly isLate: () => boolean;
}

/** What plugins are lent for a session. */
export function lendContext(
  deps: SessionDeps,
  session: SessionFields,
  { what, noted, signal }: Pick<ControlCall, "what"> & { noted: string[]; signal: AbortSignal | undefined },
): LentContext {
  const { model } = controlModelOf(deps, session);
  const options = { models: deps.models, model, deadlineMs: PLUGIN_MS, signal };
  const calls: ControlCall[] = [];
  let tokens = 0;
  let isLate = false;
  const ask = async (instruction: string, data: string): Promise<ControlAnswer> => {
    const begunMs = deps.clock.now();
    const answer = await askControlModel(options, [new SystemMessage(instruction), new HumanMessage(data)]);
    const said = answer.kind === "text" ? answer : { text: "", tokens: undefined };
    isLate = answer.kind === "none" && answer.isLate === true;
    tokens += said.tokens ?? estimateTokens(`${instruction}${data}${said.text}`);
    calls.push(controlCall(deps, { what, model, begunMs, ...answer }));
    return answer;
  };
  return {
    ...(model === BUILT_IN ? {} : { ask }),
    noted,
    tokens: () => tokens,
    calls: () => calls,
    isLate: () => isLate,
  };
}

/** A call of a control model that has just ended. */
export function controlCall(
  { clock }: Pick<SessionDeps, "clock">,
  {
    what,
    model,
    begunMs,
    tokens,
    why,
  }: Pick<ControlCall, "what" | "model"> & { begunMs: number; tokens?: number; why?: string },
): ControlCall {
  return {
    what,
    model,
    at: toInstant(begunMs),
    ms: Math.max(0, clock.now() - begunMs),
    ...defined({ tokens, why }),
  };
}

/** The calls of a turn with more of them. */
export function withControlCalls(
  { controlCalls = [] }: Pick<TurnInFlight, "controlCalls">,
  more: readonly ControlCall[],
): Pick<TurnInFlight, "controlCalls"> {
  return more.length === 0 ? {} : { controlCalls: [...controlCalls, ...more] };
}
