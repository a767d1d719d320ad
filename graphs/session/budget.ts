/** What a turn may use, and what ends a call of a model or a tool early. */
import type { SessionDeps, SessionLimits } from "#src/app/session-deps.ts";
import { LilyError } from "#src/kernel/errors.ts";
import type { ReachedLimit } from "#src/sessions/turn-record.ts";
import type { TurnInFlight } from "./state.ts";

/** What a turn has used; of its time, what models and tools took. */
export interface Spent {
  readonly modelCalls: number;
  readonly toolCalls: number;
  /** Read and written by models. */
  readonly tokens: number;
  readonly ms: number;
  /** Of the run, by the limit that its caller set. */
  readonly steps?: { readonly left: number; readonly limit: number } | undefined;
}

/** How much a turn may use. */
export type TurnLimits = Pick<SessionLimits, "modelCalls" | "toolCalls" | "turnTokens" | "turnMs">;

/**
 * Whether the next call is made. `go`: it is. `answer`: no tool is run any more, and the model is asked for its answer.
 * `end`: nothing is called any more, and the turn is committed with what there is.
 */
export type BudgetVerdict =
  | { readonly action: "go" }
  | { readonly action: "answer" | "end"; readonly limit: ReachedLimit };

/** Decides before a call. The last call of a model is offered no tools, so that it answers. */
export function judgeBudget(next: "model" | "tool", spent: Spent, limits: TurnLimits): BudgetVerdict {
  const { modelCalls, toolCalls, turnTokens, turnMs } = limits;
  const { steps } = spent;
  if (turnMs > 0 && spent.ms >= turnMs) return end({ kind: "time", used: spent.ms, limit: turnMs });
  if (turnTokens > 0 && spent.tokens >= turnTokens)
    return end({ kind: "tokens", used: spent.tokens, limit: turnTokens });
  if (spent.modelCalls >= modelCalls)
    return end({ kind: "modelCalls", used: spent.modelCalls, limit: modelCalls });
  if (next === "model" && spent.modelCalls + 1 === modelCalls)
    return { action: "answer", limit: { kind: "modelCalls", used: modelCalls, limit: modelCalls } };
  if (next === "tool" && spent.toolCalls >= toolCalls)
    return { action: "answer", limit: { kind: "toolCalls", used: spent.toolCalls, limit: toolCalls } };
  if (steps !== undefined && steps.left < STEPS_BEHIND[next])
    return { action: "answer", limit: { kind: "steps", used: steps.limit - steps.left, limit: steps.limit } };
  return { action: "go" };
}

/** What has to follow for an answer: the tools that a model asks for, the model, the commit. */
const STEPS_BEHIND = { model: 3, tool: 2 };

function end(limit: ReachedLimit): BudgetVerdict {
  return { action: "end", limit };
}

/** What a turn has used so far. */
export function spentOf({ modelCalls, spent }: Pick<TurnInFlight, "modelCalls" | "spent">): Spent {
  return { toolCalls: 0, tokens: 0, ms: 0, ...spent, modelCalls };
}

/** The fields of a turn in flight that used more. Fractions of a millisecond count whole. */
export function spend(
  turn: Pick<TurnInFlight, "modelCalls" | "spent">,
  more: Partial<Spent>,
): Pick<TurnInFlight, "modelCalls"> & Required<Pick<TurnInFlight, "spent">> {
  const before = spentOf(turn);
  return {
    modelCalls: before.modelCalls + (more.modelCalls ?? 0),
    spent: {
      toolCalls: before.toolCalls + (more.toolCalls ?? 0),
      tokens: before.tokens + (more.tokens ?? 0),
      ms: before.ms + Math.ceil(more.ms ?? 0),
    },
  };
}

/** The setting that raises each limit, and what it counts. */
const SETTINGS = {
  modelCalls: { setting: "limits.modelCalls", counts: "model calls" },
  toolCalls: { setting: "limits.toolCalls", counts: "tool calls" },
  tokens: { setting: "limits.turnTokens", counts: "tokens" },
  time: { setting: "limits.turnMs", counts: "seconds" },
  steps: { setting: "recursion_limit of the run", counts: "steps" },
} as const;

/** A limit as a quantity, e.g. `24 tool calls`. */
function limitText({ kind, limit }: ReachedLimit): string {
  const { counts } = SETTINGS[kind];
  const amount = kind === "time" ? limit / 1000 : limit;
  return `${amount} ${amount === 1 ? counts.slice(0, -1) : counts}`;
}

/** What the caller is told of a turn that a limit ended, and how to raise it. */
export function limitNotice(limit: ReachedLimit): string {
  return `This turn ended at its limit of ${limitText(limit)}; what was done by then is kept. Ask to go on, or raise ${SETTINGS[limit.kind].setting}${limit.kind === "steps" ? "" : " in config.json"}.`;
}

/** The result of a tool call that a limit kept from running. */
export function notRunText(limit: ReachedLimit): string {
  return `not run: the budget of this turn is used up (${limitText(limit)})`;
}

/** The answer of a turn that has none: a history whose turns all end in an answer is valid everywhere. */
export function noAnswerText(limit: ReachedLimit): string {
  return `[no answer: the budget of this turn is used up (${limitText(limit)})]`;
}

/** What ended a call early. */
type Ending = "stop" | "time" | "run";

/** Watches one call. */
export interface CallGuard {
  /** For the call; aborted by whatever ends it. */
  readonly signal: AbortSignal;
  endedBy(): Ending | undefined;
  /** Milliseconds that the call has taken. */
  spentMs(): number;
  /** Milliseconds that the turn has left; infinite without a limit. */
  leftMs(): number;
  /** Ends the watch. Idempotent. */
  close(): void;
}

/** What is watched. */
interface GuardedCall {
  readonly sessionId: string;
  /** Of the run. */
  readonly runSignal: AbortSignal | undefined;
  /** What the turn had taken before. */
  readonly spentMs: number;
}

/** Begins to watch a call. */
export function guardCall(deps: SessionDeps, { sessionId, runSignal, spentMs }: GuardedCall): CallGuard {
  const begunMs = deps.clock.monotonic();
  const takenMs = (): number => deps.clock.monotonic() - begunMs;
  const limitMs = deps.limits.turnMs > 0 ? deps.limits.turnMs : Number.POSITIVE_INFINITY;
  const leftMs = (): number => limitMs - spentMs - takenMs();
  const time = new AbortController();
  const timer = Number.isFinite(limitMs)
    ? setTimeout(() => time.abort(timeIsUp()), Math.max(0, leftMs()))
    : undefined;
  const stop = deps.stops.signalFor(sessionId);
  const signals = [stop, runSignal, time.signal].filter((signal) => signal !== undefined);
  return {
    signal: AbortSignal.any(signals),
    endedBy() {
      if (stop?.aborted === true) return "stop";
      if (runSignal?.aborted === true) return "run";
      return time.signal.aborted ? "time" : undefined;
    },
    spentMs: takenMs,
    leftMs,
    close: () => clearTimeout(timer),
  };
}

/** Why a call is aborted; nobody is told, for what was written so far is kept. */
function timeIsUp(): LilyError {
  return new LilyError("turn_stopped", "the time of this turn is used up");
}
