/** The conversations of a LangGraph server: `runTurn` over the server's own runs, threads and store. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import type { Client } from "@langchain/langgraph-sdk";
import { LilyError } from "#src/kernel/errors.ts";
import type { Ids } from "#src/kernel/ids.ts";
import type { SessionRepository } from "#src/sessions/repository.ts";
import type { KeyLock } from "#src/storage/backend.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import { lockName, runTurn, type ReadCommand, type TurnDeps } from "#src/turns/run-turn.ts";
import type { SessionRunner } from "#src/turns/runner.ts";
import type { StopRegistry } from "#src/turns/stop-registry.ts";
import type { Conversations } from "../conversations.ts";
import type { WaitingReceipts } from "#src/erasure/waiting-receipts.ts";
import { createClientStore } from "./client-store.ts";
import type { OrphanDeps } from "./orphan-runs.ts";
import { createServerErasure, type ErasureClient } from "./server-erasure.ts";
import { createServerRunner, type RunnerClient } from "./server-runner.ts";

/** What all conversations of one process share. */
export interface ServerShared {
  readonly ids: Ids;
  /** Turns of one key, one at a time, among those that come through here; the server orders the rest by thread. */
  readonly locks: KeyLock;
  readonly stops: StopRegistry;
  /** The graph that the server runs has the same `stops`, so that a stop keeps what there is of the answer. */
  readonly graphSeesStops: boolean;
  readonly messageCharacters: number;
  readonly botNames: readonly string[];
  readonly lockWaitMs: number;
  readonly orphans?: OrphanDeps;
  /** As the graph has them, so that a run can tell of what was erased before it. */
  readonly receipts?: WaitingReceipts;
  /**
   * Answers commands that change nothing beside the graph, and erases before a run. Without it the former are runs like any
   * other, and nothing is erased.
   */
  readonly beside?: (sources: BesideSources) => Pick<TurnDeps, "readCommand" | "beforeRun">;
}

/** Where what is done beside the graph reads and erases. */
export interface BesideSources {
  readonly repository: SessionRepository;
  readonly runner: SessionRunner;
  readonly store: BaseStore;
  readonly erasing: ReturnType<typeof createServerErasure>;
}

/** The calls of the client that are used here. */
export type ServerClient = RunnerClient & ErasureClient & Pick<Client, "store">;

/** Opens the conversations of `owner`, whose credentials `client` sends. */
export type OpenServerConversations = (client: ServerClient, owner: string) => Conversations;

/** Makes what opens conversations. */
export function createServerConversations(shared: ServerShared): OpenServerConversations {
  return (client, owner) => {
    const deps = turnDeps(shared, client);
    const { repository } = deps;
    return {
      repository,
      send: (request) => runTurn(deps, request),
      async stop(ref) {
        const running = shared.stops.runningOn(lockName(ref));
        running?.stop.abort(new Error("stopped by the user"));
        return running !== undefined;
      },
      // Any read will do.
      ready: async () => void (await repository.readChain({ owner, sessionKey: "ready" })),
    };
  };
}

function turnDeps(shared: ServerShared, client: ServerClient): TurnDeps {
  const { ids, locks, stops, messageCharacters, botNames, lockWaitMs } = shared;
  const store = createClientStore(client.store);
  const repository = createStoreSessionRepository(store);
  const runner = createServerRunner(client, {
    ...orphansOf(shared),
    ...(shared.receipts === undefined ? {} : { receipts: shared.receipts }),
    ...(shared.graphSeesStops ? {} : { stopOf: (sessionId: string) => stops.signalFor(sessionId) }),
  });
  const erasing = createServerErasure(client, { store, locks, ...orphansOf(shared) });
  const beside = shared.beside?.({ repository, runner, store, erasing }) ?? {
    readCommand: readByRun(ids, { repository, runner }),
  };
  return { ids, runner, repository, locks, stops, ...beside, messageCharacters, botNames, lockWaitMs };
}

function orphansOf({ orphans }: ServerShared): Pick<ServerShared, "orphans"> {
  return orphans === undefined ? {} : { orphans };
}

/** A command that changes nothing as a run on the latest session; before the first message, on a thread of its own. */
function readByRun(
  ids: Ids,
  sources: { readonly repository: SessionRepository; readonly runner: SessionRunner },
): ReadCommand {
  return async ({ owner, sessionKey, deliveryId, name, args }) => {
    const chain = await sources.repository.readChain({ owner, sessionKey });
    const message = { id: deliveryId, content: `/${name} ${args}`.trimEnd() };
    const ask = (threadId: string) => sources.runner.run({ threadId, owner, sessionKey, message });
    const first = await ask(chain?.latest ?? ids.uuid());
    // The key was opened by another message in between.
    const outcome = first.kind === "handoff" ? await ask(first.sessionId) : first;
    if (outcome.kind === "reply") return outcome.reply;
    throw new LilyError("turn_loop", "the command was handed from session to session", {
      next: "lily verify names what is wrong with the conversation.",
    });
  };
}
