/** Lily on a server (`lily serve`), by its URL, with the server's own model and clock. */
import { errorMessage } from "#src/kernel/errors.ts";
import { routedSessions } from "./routed-sessions.ts";
import type { Runner, RunnerOptions } from "./runner.ts";

/** Where `lily serve` listens. */
const DEFAULT_URL = "http://127.0.0.1:2025";

/** Opens a runner over the server's routes. @throws an error that names the URL when nothing answers there */
export async function openRemoteRunner({ apiKey, url = DEFAULT_URL }: RunnerOptions): Promise<Runner> {
  const sessions = routedSessions(url, apiKey);
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

function cannot(what: string): never {
  throw new Error(`a remote runner cannot ${what}`);
}
