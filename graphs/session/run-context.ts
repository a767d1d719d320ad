/** What one run works with: who is asking, on which thread, the store that it may write to, and how long its steps take. */
import { ToolMessage } from "@langchain/core/messages";
import type { Runtime } from "@langchain/langgraph";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { fromInstant } from "#src/kernel/clock.ts";
import { LilyError } from "#src/kernel/errors.ts";
import type { BlobStore, SessionRepository } from "#src/sessions/repository.ts";
import type { Chain } from "#src/sessions/chain.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { parseOwner, parseSessionId, parseSessionKey } from "#src/sessions/session-key.ts";
import { MAX_STEPS, type Step } from "#src/sessions/turn-record.ts";
import { createBlobStore, createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import {
  type SessionContext,
  sessionContextSchema,
  type SessionStateValues,
  type SessionUpdate,
  type TurnInFlight,
} from "./state.ts";

/** A run as nodes see it. */
export interface RunContext {
  readonly threadId: string;
  readonly owner: string;
  /** `undefined`: the thread is its own key, unless the session is known already. */
  readonly sessionKey: string | undefined;
  readonly followsHandoff: boolean;
  /** The run was asked to begin at a checkpoint, which the thread may have moved past. */
  readonly isFork: boolean;
  /** The deliveries of which the message of this run is made, when it is more than one. */
  readonly collected: NonNullable<SessionContext["fence"]>["collected"];
  /** The receipt of what was erased for the message of this run. */
  readonly erased: NonNullable<SessionContext["fence"]>["erased"];
  readonly repository: SessionRepository;
  /** The store itself, for what has rules of its own; under the lease of the key, where the run has one. */
  readonly store: BaseStore;
  /** What is too big for a message, in the same store. */
  readonly blobs: BlobStore;
}

/** The parts of LangGraph's runtime that runs read. */
export type NodeRuntime = Pick<Runtime<SessionContext>, "context" | "store" | "serverInfo"> & {
  readonly configurable?: Record<string, unknown>;
  readonly metadata?: Record<string, unknown>;
  /** Steps that the run may take. */
  readonly recursionLimit?: number;
};

/**
 * Reads the run's context.
 *
 * @throws {LilyError} `session_id_invalid`, `session_key_invalid`, `request_invalid`, `config_invalid`
 */
export function readRunContext(deps: SessionDeps, runtime: NodeRuntime): RunContext {
  const context = contextOf(runtime);
  // Only `runTurn` holds leases. On a server, where nothing is fenced, a caller could name deliveries that never came.
  const fence = deps.fencedStore === undefined ? undefined : context.fence;
  const store = storeOf(deps, runtime, fence);
  return {
    threadId: threadOf(runtime),
    owner: parseOwner(authenticatedUser(runtime) ?? context.owner ?? deps.localOwner),
    sessionKey: context.sessionKey === undefined ? undefined : parseSessionKey(context.sessionKey),
    followsHandoff: context.followsHandoff === true,
    // LangGraph copies what a caller asks for into the metadata of its run.
    isFork: deps.lifecycleMode === "segmented" && runtime.metadata?.["checkpoint_id"] !== undefined,
    collected: fence?.collected,
    erased: fence?.erased,
    repository: createStoreSessionRepository(store, deps),
    store,
    blobs: createBlobStore(store),
  };
}

/** The thread of a run. @throws {LilyError} `session_id_invalid` */
function threadOf({ configurable }: NodeRuntime): string {
  return parseSessionId(configurable?.["thread_id"]);
}

function contextOf({ context }: NodeRuntime): SessionContext {
  const parsed = sessionContextSchema.safeParse(context ?? {});
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const { path, message } = issue ?? { path: [], message: "" };
  const where = path.length === 0 ? "" : ` at ${JSON.stringify(path.join("."))}`;
  throw new LilyError(
    "request_invalid",
    `the context of the run is not as it should be${where}: ${message}`,
    {
      next: "Correct it and send the message again; nothing was stored.",
    },
  );
}

/** The store under the lease of the run's key, where it has one. */
function storeOf(deps: SessionDeps, { store }: NodeRuntime, fence: SessionContext["fence"]): BaseStore {
  const leased = fence && deps.fencedStore?.(fence);
  if (leased !== undefined) return leased;
  if (store !== undefined) return store;
  throw new LilyError("config_invalid", "the graph was run without a store", {
    next: deps.fencedStore === undefined ? "Compile it with a store." : "Run it under the lease of the key.",
  });
}

/** The step that runs, as LangGraph counts them over a thread. */
export function stepOf({ metadata }: NodeRuntime): number | undefined {
  const step = metadata?.["langgraph_step"];
  return typeof step === "number" ? step : undefined;
}

/** The first step of a run whose message `admit` takes in: the one before, which is the graph's own. */
export function firstStepOf(runtime: NodeRuntime): number | undefined {
  const step = stepOf(runtime);
  return step === undefined ? undefined : step - 1;
}

/** Steps that the run may still take behind the one that runs, and all that it may take; `undefined` where nothing tells. */
export function stepsLeft(
  runtime: NodeRuntime,
  firstStep: number | undefined,
): { readonly left: number; readonly limit: number } | undefined {
  const { recursionLimit: limit } = runtime;
  const step = stepOf(runtime);
  if (step === undefined || limit === undefined || firstStep === undefined) return undefined;
  return { left: firstStep + limit - 1 - step, limit };
}

/** The turn in flight of a run that begins at this step. */
export function beginningAt(turn: TurnInFlight, firstStep: number | undefined): TurnInFlight {
  return firstStep === undefined ? turn : { ...turn, firstStep };
}

/** On a server the identity of the login is the owner, whatever the caller's context says. */
function authenticatedUser(runtime: NodeRuntime): string | undefined {
  const identity: unknown = runtime.serverInfo?.user?.["identity"];
  return typeof identity === "string" && identity !== "" ? identity : undefined;
}

/** A session in its chain. */
export interface Conversation {
  readonly chain: Chain;
  readonly session: SessionFields;
}

/** The chain of a session. @throws {LilyError} `record_invalid` when it is gone from the store */
export async function requireChain(
  { repository }: Pick<RunContext, "repository">,
  session: SessionFields,
): Promise<Chain> {
  const chain = await repository.readChain(session);
  if (chain !== undefined) return chain;
  throw new LilyError(
    "record_invalid",
    `the chain of ${JSON.stringify(session.sessionKey)} is gone from the store`,
    { next: "Restore the store from a backup, or begin anew under another key." },
  );
}

type Node<Runtime> = (state: SessionStateValues, runtime: Runtime) => Promise<SessionUpdate>;

/** When steps began that failed, by what they threw. */
const begun = new WeakMap<object, number>();

/**
 * Wraps a node. What it does not know it leaves to others: the step that commits a turn is not over when it is stored, and
 * one that waits for a person is noted once it has run.
 */
export function recorder({ clock }: Pick<SessionDeps, "clock">) {
  return <Runtime>(name: string, node: Node<Runtime>): Node<Runtime> =>
    async (state, runtime) => {
      const begunMs = clock.now();
      try {
        const update = await node(state, runtime);
        const turn = turnAfter(name, state, update);
        if (turn === null) return update;
        const times = [begunMs, clock.now()] as const;
        return { ...update, turn: withStep(turn, name, times, toolOutcome(state.turn, turn, update)) };
      } catch (error) {
        if (typeof error === "object" && error !== null) begun.set(error, begunMs);
        throw error;
      }
    };
}

/** The steps of a turn that failed, the one in which it did last. */
export function stepsOfFailure(
  turn: TurnInFlight,
  { node, error }: { readonly node: string; readonly error: unknown },
  atMs: number,
): Step[] {
  const begunMs = typeof error === "object" && error !== null ? begun.get(error) : undefined;
  return withStep(turn, node, [begunMs ?? atMs, atMs]).steps ?? [];
}

/** A message that is refused, and a command that only reads, are no steps of the turn that may be in flight beside them. */
function turnAfter(
  name: string,
  { read, turn }: SessionStateValues,
  update: SessionUpdate,
): TurnInFlight | null {
  if (update.turn !== undefined) return update.turn as TurnInFlight | null;
  return name === "admit" || read !== null ? null : turn;
}

/** Of a step that ran a tool, or should have. The result of its call comes first; a call that was not run is not counted. */
function toolOutcome(before: TurnInFlight | null, after: TurnInFlight, { messages }: SessionUpdate): Step[3] {
  const [first] = Array.isArray(messages) ? messages : [];
  if (!ToolMessage.isInstance(first)) return undefined;
  if (before?.spent?.toolCalls === after.spent?.toolCalls) return "notRun";
  return first.status === "error" ? "failed" : undefined;
}

function withStep(
  turn: TurnInFlight,
  name: string,
  [begunMs, endedMs]: readonly [number, number],
  outcome?: Step[3],
): TurnInFlight {
  const times = [Math.max(0, begunMs - fromInstant(turn.startedAt)), Math.max(0, endedMs - begunMs)] as const;
  const step: Step = outcome === undefined ? [name, ...times] : [name, ...times, outcome];
  return { ...turn, steps: [...(turn.steps ?? []), step].slice(-MAX_STEPS) };
}
