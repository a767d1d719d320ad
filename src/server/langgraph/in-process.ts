/** Conversations for routes that a LangGraph server has in its own process, over its loopback: no port, no second login. */
import { Client } from "@langchain/langgraph-sdk";
import { eraseFirst } from "#graphs/session/erase-first.ts";
import { createReadCommand, createReadContext } from "#graphs/session/read-command.ts";
import { loopbackHeaders } from "#src/app/loopback.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import type { WantedErasure } from "#src/commands/command-erasing.ts";
import { previewText } from "#src/erasure/preview-text.ts";
import { createMemoryKeyLock } from "#src/storage/memory/memory-key-lock.ts";
import type { OpenConversations } from "../conversations.ts";
import { createServerConversations, type BesideSources } from "./server-conversations.ts";

/** Longest wait for another turn on the key. */
const LOCK_WAIT_MS = 600_000;

/** What {@link openInProcess} works with. */
export interface InProcessOptions {
  /** The dependencies with which the server's graph was made. */
  readonly deps: SessionDeps;
  /** When this process began, milliseconds since the epoch by the machine's clock. */
  readonly startedAtMs: number;
}

/**
 * Makes what opens the conversations of each caller. For routes only: a node of a graph that waited for a run so would
 * hold a worker, and enough of them stop the server for good.
 */
export function openInProcess({ deps, startedAtMs }: InProcessOptions): OpenConversations {
  const open = createServerConversations({
    ids: deps.ids,
    locks: createMemoryKeyLock(),
    stops: deps.stops,
    graphSeesStops: true,
    messageCharacters: deps.limits.messageCharacters,
    botNames: deps.botNames,
    lockWaitMs: LOCK_WAIT_MS,
    orphans: { serverStartedAtMs: startedAtMs, sleep: deps.sleep },
    ...(deps.receipts === undefined ? {} : { receipts: deps.receipts }),
    beside: (sources) => besideRuns(deps, sources),
  });
  return ({ owner }) => {
    // Without a URL the client uses the in-process fetch; without a key it sends none that it finds in the environment.
    const client = new Client({
      apiKey: null,
      defaultHeaders: loopbackHeaders(owner),
      // A request that fails here fails for good; the delivery id makes it safe for the caller to try again.
      callerOptions: { maxRetries: 0, maxConcurrency: 32 },
    });
    return open(client, owner);
  };
}

/** What is answered and erased beside the runs of the server, as a local program does it. */
function besideRuns(deps: SessionDeps, sources: BesideSources) {
  const erasure = { ...sources.erasing, clock: deps.clock, ids: deps.ids };
  const reading = {
    ...sources,
    erasing: (owner: string) => ({
      preview: (wanted: WantedErasure) => previewText(erasure, { owner, ...wanted }),
    }),
  };
  return {
    readCommand: createReadCommand(deps, reading),
    beforeRun: eraseFirst(deps, {
      erasure,
      contextOf: createReadContext(deps, reading),
      // Nothing runs beside turns here.
      settled: async () => undefined,
    }),
  };
}
