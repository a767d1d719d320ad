/** What one run works with: who is asking, on which thread, and the repository it may write to. */
import type { Runtime } from "@langchain/langgraph";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { LilyError } from "#src/kernel/errors.ts";
import { parseOwner, parseSessionId, parseSessionKey } from "#src/sessions/session-key.ts";
import type { BlobStore } from "#src/sessions/blobs.ts";
import type { SessionRepository } from "#src/sessions/repository.ts";
import { createBlobStore } from "#src/storage/blob-store.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { sessionContextSchema, type SessionContext } from "./state.ts";
import { underLease, type UnderLease } from "./under-lease.ts";

/** A run as nodes see it. */
export interface RunContext {
  readonly threadId: string;
  readonly owner: string;
  /** `undefined`: the thread is its own key, unless the session is known already. */
  readonly sessionKey: string | undefined;
  readonly followsHandoff: boolean;
  /** The run begins at a checkpoint that the thread has moved past, and may open a session of its own. */
  readonly isReplay: boolean;
  /** The deliveries of which the message of this run is made, when it is more than one. */
  readonly collected: NonNullable<SessionContext["fence"]>["collected"];
  /** The receipt of what was erased for the message of this run. */
  readonly erased: NonNullable<SessionContext["fence"]>["erased"];
  readonly repository: SessionRepository;
  /** The store itself, for what has rules of its own; under the same lease. */
  readonly store: BaseStore;
  /** What is too big for a message, under the same lease. */
  readonly blobs: BlobStore;
}

/** The parts of LangGraph's runtime that runs read. */
export type NodeRuntime = Pick<Runtime<SessionContext>, "context" | "store" | "serverInfo"> & {
  readonly configurable?: Record<string, unknown>;
};

/**
 * Reads the run's context.
 *
 * @throws {LilyError} `session_id_invalid`, `session_key_invalid`, `config_invalid`
 */
export function readRunContext(deps: SessionDeps, runtime: NodeRuntime): RunContext {
  const known = READ.get(runtime);
  if (known !== undefined) return known;
  const run = makeRunContext(deps, runtime);
  READ.set(runtime, run);
  return run;
}

/** Nodes of one step share a runtime. */
const READ = new WeakMap<NodeRuntime, RunContext>();

function makeRunContext(deps: SessionDeps, runtime: NodeRuntime): RunContext {
  const context = sessionContextSchema.parse(runtime.context ?? {});
  const user = authenticatedUser(runtime);
  const { store, repository } = storageOf(deps, runtime, context);
  return {
    threadId: threadOf(runtime),
    owner: parseOwner(user ?? context.owner ?? deps.localOwner),
    sessionKey: context.sessionKey === undefined ? undefined : parseSessionKey(context.sessionKey),
    followsHandoff: context.followsHandoff === true,
    // LangGraph tells nodes of it by this key alone: they are not given the id of the checkpoint.
    isReplay:
      deps.lifecycleMode === "segmented" && runtime.configurable?.["__pregel_replay_state"] !== undefined,
    // Only `runTurn` can know. On a server, where nothing is fenced, a caller could name deliveries that never came.
    collected: deps.fencedStore === undefined ? undefined : context.fence?.collected,
    erased: deps.fencedStore === undefined ? undefined : context.fence?.erased,
    repository,
    store,
    blobs: createBlobStore(store),
  };
}

/** The thread of a run. @throws {LilyError} `session_id_invalid` */
export function threadOf({ configurable }: NodeRuntime): string {
  return parseSessionId(configurable?.["thread_id"]);
}

/** What the run may write to: under the lease of its key, where it has one. */
function storageOf(deps: SessionDeps, { store }: NodeRuntime, { fence }: SessionContext): UnderLease {
  const leased = fence === undefined ? undefined : underLease(deps, fence);
  if (leased !== undefined) return leased;
  if (store !== undefined) return { store, repository: createStoreSessionRepository(store) };
  throw new LilyError("config_invalid", "the graph was run without a store", {
    next: deps.fencedStore === undefined ? "Compile it with a store." : "Run it under the lease of the key.",
  });
}

/** On a server the identity of the login is the owner, whatever the caller's context says. */
function authenticatedUser(runtime: NodeRuntime): string | undefined {
  const identity: unknown = runtime.serverInfo?.user?.["identity"];
  return typeof identity === "string" && identity !== "" ? identity : undefined;
}
