/** Lily on a server, by its URL, with the server's own model and clock: by its runs and store, or by its routes. */
import { randomUUID } from "node:crypto";
import { Client } from "@langchain/langgraph-sdk";
import { systemIds } from "#src/app/system.ts";
import { errorMessage } from "#src/kernel/errors.ts";
import { createServerConversations } from "#src/server/langgraph/server-conversations.ts";
import { createMemoryKeyLock } from "#src/storage/memory/memory-key-lock.ts";
import { createStopRegistry } from "#src/turns/stop-registry.ts";
import { routedSessions } from "./routed-sessions.ts";
import type { Runner, RunnerOptions } from "./runner.ts";
import { sentReply, storedSessions, type RemoteSessions } from "./stored-sessions.ts";

/** Where `langgraphjs dev` listens. */
const DEFAULT_URL = "http://127.0.0.1:2024";

/** Owner on a server without a login. */
const DEFAULT_OWNER = "local";

/** The server has the last word on what is too long. */
const NO_LIMIT = 10_000_000;

/**
 * Opens a runner. Without a key it uses the runs and the store of a LangGraph server; with one, which a server does not
 * let near its store, Lily's own routes.
 *
 * @throws an error that names the URL when nothing answers there
 */
export async function openRemoteRunner(options: RunnerOptions): Promise<Runner> {
  const { apiKey, owner = DEFAULT_OWNER, url = DEFAULT_URL } = options;
  const sessions = apiKey === undefined ? graphSessions(url, owner) : routedSessions(url, apiKey);
  await sessions.ready().catch((error: unknown) => {
    throw new Error(`the server at ${url} does not answer: ${errorMessage(error)}`, { cause: error });
  });
  return {
    name: "remote",
    can: {
      clock: false,
      modelInputs: false,
      puppetModel: false,
      restart: false,
      judges: false,
      owners: false,
    },
    send: sessions.send,
    history: sessions.history,
    sessions: sessions.sessions,
    verify: sessions.verify,
    now: () => Date.now(),
    advanceClock: () => cannot("move the server's clock"),
    modelInputs: () => cannot("see what the server's model was given"),
    restart: () => cannot("restart the server"),
    judge: () => cannot("tell the server's control model what to say"),
    close: async () => undefined,
  };
}

/** What a runner does, by runs of the graph and reads of the store. */
function graphSessions(url: string, owner: string): RemoteSessions {
  const callerOptions = { maxRetries: 1, maxConcurrency: 32 };
  const conversations = openShared(new Client({ apiUrl: url, apiKey: null, callerOptions }), owner);
  return {
    ready: conversations.ready,
    send: async (sessionKey, content, { deliveryId = randomUUID() } = {}) =>
      sentReply(await conversations.send({ owner, sessionKey, content, deliveryId })),
    ...storedSessions(conversations.repository, owner),
  };
}

/** Cases run one after another, but a case may send at the same time: such turns are put in order here. */
const openShared = createServerConversations({
  ids: systemIds,
  locks: createMemoryKeyLock(),
  stops: createStopRegistry(),
  graphSeesStops: false,
  messageCharacters: NO_LIMIT,
  botNames: [],
  lockWaitMs: 60_000,
});

function cannot(what: string): never {
  throw new Error(`a remote runner cannot ${what}`);
}
