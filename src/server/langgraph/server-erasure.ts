/** What an erasure works on where a LangGraph server keeps everything: its store, and its threads with their states and runs. */
import type { Client, Thread } from "@langchain/langgraph-sdk";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import type { ErasureDeps } from "#src/erasure/erasure-deps.ts";
import { LilyError } from "#src/kernel/errors.ts";
import type { KeyLock } from "#src/storage/backend.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import { removeOrphan, type OrphanDeps } from "./orphan-runs.ts";
import { SESSION_GRAPH_ID, unlessUnknown } from "./server-runner.ts";

/** The calls of the client that are used here. */
export interface ErasureClient {
  readonly threads: Pick<Client["threads"], "create" | "delete" | "get" | "getHistory" | "search">;
  readonly runs: Pick<Client["runs"], "delete" | "list">;
}

/** What the client does not tell. */
export interface ServerErasureOptions {
  readonly store: BaseStore;
  readonly locks: KeyLock;
  /** Where the server runs in this process: clears what its restart left behind. */
  readonly orphans?: OrphanDeps;
}

const PAGE = 100;

/** As many as a server gives at once. */
const MOST_STATES = 1_000;

/** Makes it. The server orders the runs of a thread, so nothing is fenced; a thread with a run is not touched. */
export function createServerErasure(
  client: ErasureClient,
  options: ServerErasureOptions,
): Pick<ErasureDeps, "storage" | "threadsOf"> {
  const { store, locks } = options;
  return {
    threadsOf: (owner) =>
      pages((page) => client.threads.search({ metadata: { owner }, ...page })).then(idsOf),
    storage: {
      name: "LangGraph server",
      store,
      locks,
      fencedStore: () => store,
      checkpointer: {
        deleteThread: (threadId) => deleteThread(client, threadId, options),
        // All that is stored is read as texts.
        getTuple: async () => undefined,
        async *list() {},
      },
      erasure: {
        storedTexts: (threadId) => textsOf(client, threadId),
        forgetLocks: async () => 0,
        scrub: async () => ({
          outcome: "not_supported",
          why: "the server writes its own files, a few seconds after each change",
        }),
      },
    },
  };
}

/** The thread, its states, and the runs with what was sent to them. */
async function textsOf(client: ErasureClient, threadId: string): Promise<string[]> {
  const thread = await client.threads.get(threadId).catch(unlessUnknown);
  if (thread === undefined) return [];
  const runs = await pages((page) => client.runs.list(threadId, page));
  return [thread, ...runs, ...(await statesOf(client, threadId))].map((row) => JSON.stringify(row));
}

/** @throws where there may be more than a server gives at once: what cannot be looked at may say anything */
async function statesOf(client: ErasureClient, threadId: string): Promise<unknown[]> {
  const states = await client.threads.getHistory(threadId, { limit: MOST_STATES });
  if (states.length < MOST_STATES) return states;
  throw new LilyError("internal", `the thread ${threadId} has more states than can be read`);
}

/** A thread of a session is made anew, empty: clients may go on with its id, and its session with its transcript. */
async function deleteThread(
  client: ErasureClient,
  threadId: string,
  { store, orphans }: ServerErasureOptions,
): Promise<void> {
  const thread = await client.threads.get(threadId).catch(unlessUnknown);
  if (thread === undefined) return;
  if (thread.status === "busy" && (orphans === undefined || !(await removeOrphan(client, threadId, orphans))))
    throw stillRunning(threadId);
  await client.threads.delete(threadId);
  const key = await createStoreSessionRepository(store).findSession(threadId);
  if (key === undefined) return;
  const { owner, sessionKey } = key;
  await client.threads.create({
    threadId,
    graphId: SESSION_GRAPH_ID,
    ifExists: "do_nothing",
    metadata: { session_key: sessionKey, owner },
  });
}

function stillRunning(threadId: string): LilyError {
  return new LilyError("turn_running", `a run is under way on the thread ${threadId}`, {
    next: "Send the same again when it has ended: it goes on where it was.",
  });
}

/** All pages of a list. */
async function pages<T>(read: (page: { limit: number; offset: number }) => Promise<T[]>): Promise<T[]> {
  const all: T[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await read({ limit: PAGE, offset });
    all.push(...page);
    if (page.length < PAGE) return all;
  }
}

function idsOf(threads: readonly Thread[]): string[] {
  return threads.map(({ thread_id: id }) => id);
}
