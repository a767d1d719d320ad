/** Tells a LangGraph server of threads that begin by a hand-off, through the server's own in-process client. */
import type { Client } from "@langchain/langgraph-sdk";
import type { ThreadRegistrar, ThreadStart } from "#src/turns/thread-registrar.ts";
import { loopbackHeaders } from "./loopback.ts";

/** Name of the session graph in `langgraph.json`. */
const SESSION_GRAPH_ID = "session";

/** Set by a LangGraph server in its own process: a `fetch` that needs no port. */
const LOOPBACK_FETCH = Symbol.for("langgraph_api:fetch");

/** The calls of the client that are used here. */
export type ThreadClient = {
  readonly threads: Pick<Client["threads"], "create">;
  readonly runs: Pick<Client["runs"], "create">;
};

/** Makes the client that acts for the owner whom the headers name. */
export type ConnectThreads = (headers: Record<string, string>) => Promise<ThreadClient>;

/**
 * The registrar of the server in whose process this runs; outside of a server it does nothing. The thread and its run are
 * made on behalf of the owner of the session, whose login stays with whoever sent the message. A run that it enqueues is
 * never waited for: a node that waits for another run holds a worker, and enough of them stop the server for good.
 */
export function createLangGraphThreads(connect: ConnectThreads = connectInProcess): ThreadRegistrar {
  return {
    async start(thread) {
      if (!(LOOPBACK_FETCH in globalThis)) return;
      // A client for each hand-off: they are rare, it holds no connection, and it cannot act for the wrong owner.
      await startThread(await connect(loopbackHeaders(thread.owner)), thread);
    },
  };
}

/** Without a URL the client uses the in-process fetch; without a key it sends none that it finds in the environment. */
async function connectInProcess(defaultHeaders: Record<string, string>): Promise<ThreadClient> {
  const { Client } = await import("@langchain/langgraph-sdk");
  return new Client({ apiKey: null, defaultHeaders });
}

async function startThread(client: ThreadClient, thread: ThreadStart): Promise<void> {
  const { sessionId, owner, sessionKey, message } = thread;
  await client.threads.create({
    threadId: sessionId,
    graphId: SESSION_GRAPH_ID,
    ifExists: "do_nothing",
    metadata: { session_key: sessionKey, owner },
  });
  if (message === undefined) return;
  await client.runs.create(sessionId, SESSION_GRAPH_ID, {
    input: { messages: [{ type: "human", id: message.id, content: message.content }] },
    context: { owner, sessionKey },
    streamMode: ["messages-tuple", "updates", "custom", "values"],
    streamResumable: true,
    multitaskStrategy: "enqueue",
  });
}
