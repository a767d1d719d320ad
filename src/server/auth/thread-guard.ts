/**
 * Guards the routes of the LangGraph server that ask for no permission. Server 1.5.1 lets whoever owns any thread join
 * every run by it (`/threads/{theirs}/runs/{another's}/stream`), and its protocol routes let everybody listen to a thread
 * and act on it as the one who came first. The route that reads the run or the thread does ask; its answer decides.
 */
import { loopbackHeaders } from "#src/app/loopback.ts";

/** Asks this server within the process: whether `owner` may read `path`. */
export type MayRead = (path: string, owner: string) => Promise<boolean>;

const UNGUARDED = /^\/threads\/([^/]+)\/(?:runs\/([^/]+)\/(?:join|stream)|commands|stream\/events)$/u;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu;

/** Whether `owner` may use `path`, as the server's router reads it. Paths that the server guards itself always pass. */
export async function passesGuard(path: string, owner: string, mayRead: MayRead): Promise<boolean> {
  const match = UNGUARDED.exec(path);
  if (match === null) return true;
  const [, thread = "", run] = match;
  if (!UUID.test(thread) || (run !== undefined && !UUID.test(run))) return false;
  return mayRead(run === undefined ? `/threads/${thread}` : `/threads/${thread}/runs/${run}`, owner);
}

/** Set by a LangGraph server in its own process: a `fetch` that needs no port. */
const LOOPBACK_FETCH = Symbol.for("langgraph_api:fetch");

/** Asks over the loopback. Without one this is another server, whose answer is not known: nobody may. */
export const mayReadInProcess: MayRead = async (path, owner) => {
  const loopback: unknown = Reflect.get(globalThis, LOOPBACK_FETCH);
  if (typeof loopback !== "function") return false;
  const response: unknown = await loopback(`http://localhost${path}`, { headers: loopbackHeaders(owner) });
  if (!(response instanceof Response)) return false;
  await response.body?.cancel();
  return response.ok;
};
