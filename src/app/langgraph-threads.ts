/** Tells a LangGraph server of the threads of a key, through the server's own in-process client. */
import type { Client } from "@langchain/langgraph-sdk";
import type { ThreadLabel, ThreadRegistrar, ThreadStart } from "#src/turns/thread-registrar.ts";
import { inProcessClient, isInServer, loopbackHeaders } from "./loopback.ts";

/** Name of the session graph in `langgraph.json`. */
const SESSION_GRAPH_ID = "session";

/** The calls of the client that are used here. */
export type ThreadClient = {
  readonly threads: Pick<Client["threads"], "create" | "update">;
  readonly runs: Pick<Client["runs"], "create">;
};

/** Makes the client that acts for the owner whom the headers name. */
export type ConnectThreads = (headers: Record<string, string>) => Promise<ThreadClient>;

/**
 * The registrar of the server in whose process this runs; outside of a server it does nothing. Threads and runs are
 * made on behalf of the owner of the session, whose login stays with whoever sent the message. A run that it enqueues is
 * never waited for: a node that waits for another run holds a worker, and enough of them stop the server for good.
 *
 * A thread's metadata hold `session_key`, `owner` and `sealed`: `threads.search({ metadata: { session_key, sealed: false } })`
 * finds the latest session of a key.
 */
export function createLangGraphThreads(connect: ConnectThreads = inProcessClient): ThreadRegistrar {
  // A client for each call: they are rare, it holds no connection, and it cannot act for the wrong owner.
  const clientFor = (owner: string) => connect(loopbackHeaders(owner));
  return {
    async start(thread) {
      if (!isInServer()) return;
      await startThread(await clientFor(thread.owner), thread);
    },
    async label(thread) {
      if (!isInServer()) return;
      // A label is a copy of what the chain says, and the chain decides: a turn does not fail for it.
      await labelThread(await clientFor(thread.owner), thread).catch(() => undefined);
    },
  };
}

async function startThread(client: ThreadClient, thread: ThreadStart): Promise<void> {
  const { sessionId, owner, sessionKey, message } = thread;
  await labelThread(client, { sessionId, owner, sessionKey, sealed: false });
  if (message === undefined) return;
  await client.runs.create(sessionId, SESSION_GRAPH_ID, {
    input: { messages: [{ type: "human", id: message.id, content: message.content }] },
    context: { owner, sessionKey },
    streamMode: ["messages-tuple", "updates", "custom", "values"],
    streamResumable: true,
    multitaskStrategy: "enqueue",
  });
}

/** Makes the thread where it is not there yet, and writes its metadata where they say something else. */
async function labelThread(client: ThreadClient, thread: ThreadLabel): Promise<void> {
  const { sessionId, owner, sessionKey, sealed } = thread;
  const metadata: Record<string, string | boolean> = { session_key: sessionKey, owner, sealed };
  const { metadata: found } = await client.threads.create({
    threadId: sessionId,
    graphId: SESSION_GRAPH_ID,
    ifExists: "do_nothing",
    metadata,
  });
  const isTrue = Object.entries(metadata).every(([name, value]) => found?.[name] === value);
  if (!isTrue) await client.threads.update(sessionId, { metadata });
}
