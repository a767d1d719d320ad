/** What an erasure works on where a LangGraph server keeps everything: its Store and its threads, by LangGraph's SDK. */
import {
  BaseStore,
  emptyCheckpoint,
  type Operation,
  type OperationResults,
  type SearchItem,
} from "@langchain/langgraph-checkpoint";
import { Client, type Thread } from "@langchain/langgraph-sdk";
import { z } from "zod";
import { LilyError } from "#src/kernel/errors.ts";
import type { Target } from "./erase.ts";
import type { ErasureDeps } from "./place.ts";

/** Where the server is, and the header that opens it. */
export interface ServerLogin {
  readonly url: string;
  /** `name: value`, as it is sent; absent for a server that asks for none. */
  readonly header?: string | undefined;
}

/** Makes the client. No key is taken from the environment. @throws {LilyError} `command_usage` */
export function connectServer({ url, header }: ServerLogin): Client {
  const [, name, value] = /^([\w-]+):\s*(\S.*)$/u.exec(header ?? "") ?? [];
  if (!URL.canParse(url) || (header !== undefined && (name === undefined || value === undefined)))
    throw new LilyError("command_usage", "the server is a URL, and its header is written name: value", {
      next: 'lily erase --server https://… --owner <name>, with LILY_SERVER_HEADER="x-api-key: …".',
    });
  const defaultHeaders = name === undefined || value === undefined ? {} : { [name]: value };
  return new Client({ apiUrl: url, apiKey: null, defaultHeaders, callerOptions: { maxRetries: 1 } });
}

/** The parts of it. Nothing is fenced there: {@link assertIdle} comes first. */
export function serverErasure(client: Client, time: Pick<ErasureDeps, "clock" | "ids">): ErasureDeps {
  const store = new ServerStore(client);
  const lease = {
    lockName: "",
    token: 0,
    lost: new AbortController().signal,
    release: async () => undefined,
  };
  return {
    ...time,
    servesLangGraph: true,
    threadsOf: async (owner, sessionKey) =>
      (await threadsOf(client, { owner, sessionKey })).map(({ thread_id: id }) => id),
    storage: {
      store,
      fencedStore: () => store,
      locks: { acquire: async () => lease, holder: async () => undefined },
      checkpointer: {
        // With its states and its runs, which hold what was sent to them.
        deleteThread: (threadId) => unlessUnknown(client.threads.delete(threadId)),
        async *list({ configurable }) {
          const threadId = String(configurable?.["thread_id"]);
          const thread = await unlessUnknown(client.threads.get(threadId));
          if (thread === undefined) return;
          yield { config: {}, checkpoint: emptyCheckpoint() };
        },
      },
      erasure: {
        forgetLocks: async () => 0,
        scrub: async () => ({
          outcome: "not_supported",
          why: "the server writes its own files, a few seconds after each change",
        }),
      },
    },
  };
}

/** @throws {LilyError} `turn_running` when a run is under way on a thread that would go; nothing was changed by then */
export async function assertIdle(client: Client, target: Target): Promise<void> {
  const busy = (await threadsOf(client, target)).filter(({ status }) => status === "busy");
  if (busy.length === 0) return;
  const names = busy.map(({ thread_id: id }) => id).join(", ");
  throw new LilyError("turn_running", `a run is under way on the thread ${names}`, {
    next: "Try again when it has ended. Nothing was changed.",
  });
}

const PAGE = 100;

/**
 * The owner's threads; of one conversation those that say its key, the one that is its own key, and those that have handed their
 * message on to one of these.
 */
async function threadsOf(
  client: Client,
  { owner, sessionKey }: Pick<Target, "owner" | "sessionKey">,
): Promise<Thread[]> {
  const all: Thread[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await client.threads.search({ metadata: { owner }, limit: PAGE, offset });
    all.push(...page);
    if (page.length < PAGE) break;
  }
  if (sessionKey === undefined) return all;
  const own = all.filter(({ thread_id: id, metadata }) => (metadata?.["session_key"] ?? id) === sessionKey);
  const ids = new Set(own.map(({ thread_id: id }) => id));
  return all.filter((thread) => ids.has(thread.thread_id) || ids.has(handedTo(thread)));
}

const handedOnSchema = z.object({ handoff: z.object({ sessionId: z.string() }) });

function handedTo({ values }: Thread): string {
  const handedOn = handedOnSchema.safeParse(values);
  return handedOn.success ? handedOn.data.handoff.sessionId : "";
}

/** `undefined` for a thread that there is not, or whose name no thread can have. */
async function unlessUnknown<T>(call: Promise<T>): Promise<T | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof Error && "status" in error && (error.status === 404 || error.status === 422))
      return undefined;
    throw error;
  }
}

/** The server's Store, as far as an erasure needs it. */
class ServerStore extends BaseStore {
  readonly #client: Client;

  constructor(client: Client) {
    super();
    this.#client = client;
  }

  override async search(
    prefix: string[],
    page: { limit?: number; offset?: number } = {},
  ): Promise<SearchItem[]> {
    const { items } = await this.#client.store.searchItems(prefix, page);
    return items.map(({ createdAt, updatedAt, ...item }) => ({
      ...item,
      createdAt: new Date(createdAt),
      updatedAt: new Date(updatedAt),
    }));
  }

  override async listNamespaces(
    options: { prefix?: string[]; limit?: number; offset?: number } = {},
  ): Promise<string[][]> {
    return (await this.#client.store.listNamespaces(options)).namespaces;
  }

  override delete(namespace: string[], key: string): Promise<void> {
    return this.#client.store.deleteItem(namespace, key);
  }

  override batch<Op extends Operation[]>(_operations: Op): Promise<OperationResults<Op>> {
    throw new LilyError("internal", "an erasure on a server finds and deletes, one item a request");
  }
}
