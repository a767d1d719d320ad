/**
 * Which routes of a LangGraph server a login may use, and what is asked before. A route that is not listed is closed: what
 * a later version of the server adds stays shut until somebody has judged it here.
 */
import { inProcessClient, isInServer, loopbackHeaders } from "#src/app/loopback.ts";
import { TrieRouter } from "hono/router/trie-router";

/**
 * `asked`: the server itself asks `decideAccess` about what the route touches. `thread`, `run`: it does not, or only about
 * the thread in the path, so whoever asks must be able to read that thread, or that run of that thread. `closed`: nobody.
 */
export type RouteRule = "asked" | "thread" | "run" | "closed";

const THREAD = "/threads/:thread_id";
const RUN = `${THREAD}/runs/:run_id`;

/** Routes of `@langchain/langgraph-api` 1.5.1, by what is asked before them. */
export const SERVER_ROUTES: Readonly<Record<RouteRule, readonly string[]>> = {
  asked: [
    "GET /info",
    "GET /ok",
    "POST /assistants",
    "POST /assistants/search",
    "POST /assistants/count",
    "GET /assistants/:assistant_id",
    "DELETE /assistants/:assistant_id",
    "PATCH /assistants/:assistant_id",
    "GET /assistants/:assistant_id/graph",
    "GET /assistants/:assistant_id/schemas",
    "GET /assistants/:assistant_id/subgraphs/:namespace?",
    "POST /assistants/:assistant_id/latest",
    "POST /assistants/:assistant_id/versions",
    "POST /threads",
    "POST /threads/search",
    "POST /threads/count",
    `GET ${THREAD}`,
    `DELETE ${THREAD}`,
    `PATCH ${THREAD}`,
    `POST ${THREAD}/copy`,
    `GET ${THREAD}/state`,
    `POST ${THREAD}/state`,
    `GET ${THREAD}/state/:checkpoint_id`,
    `POST ${THREAD}/state/checkpoint`,
    `GET ${THREAD}/history`,
    `POST ${THREAD}/history`,
    `GET ${THREAD}/runs`,
    `POST ${THREAD}/runs`,
    `POST ${THREAD}/runs/stream`,
    `POST ${THREAD}/runs/wait`,
    `GET ${RUN}`,
    `DELETE ${RUN}`,
    "POST /runs",
    "POST /runs/stream",
    "POST /runs/wait",
    "POST /runs/batch",
    "POST /store/namespaces",
    "POST /store/items/search",
    "PUT /store/items",
    "DELETE /store/items",
    "GET /store/items",
  ],
  // The event protocol lets everybody listen to a thread and act on it as the one who came first.
  thread: [`POST ${THREAD}/commands`, `POST ${THREAD}/stream/events`, `GET ${THREAD}/stream/events`],
  // By a thread of one's own, every run could be joined.
  run: [`GET ${RUN}/join`, `GET ${RUN}/stream`, `POST ${RUN}/cancel`],
  closed: [
    // Gives every run to everybody, and no other route tells whose it is.
    "GET /runs/:run_id/stream",
    // Wipes the server.
    "POST /internal/truncate",
    // Not implemented by the server.
    "POST /runs/crons",
    "POST /runs/crons/search",
    "DELETE /runs/crons/:cron_id",
    `POST ${THREAD}/runs/crons`,
    // This application has no components of its own.
    "POST /ui/:agent",
    "GET /ui/:agent/:basename",
  ],
};

/** Routes as the server's own router matches them. */
const router = new TrieRouter<RouteRule>();
for (const [rule, routes] of Object.entries(SERVER_ROUTES) as [RouteRule, readonly string[]][]) {
  for (const route of routes) {
    const [method = "", path = ""] = route.split(" ");
    router.add(method, path, rule);
  }
}

/** The rules that hold for a request, and the parameters of its path by name; no rule: the route is not known. */
export function rulesOf(
  method: string,
  path: string,
): readonly { readonly rule: RouteRule; readonly params: Readonly<Record<string, string>> }[] {
  // The server answers HEAD by the route for GET.
  const [matched] = router.match(method === "HEAD" ? "GET" : method, path);
  return matched.map(([rule, params]) => ({ rule, params: params as Record<string, string> }));
}

/** Asks this server within the process whether `owner` may read a thread, or a run of it. */
export type MayRead = (
  of: { readonly thread_id?: string; readonly run_id?: string },
  owner: string,
) => Promise<boolean>;

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu;

/**
 * Whether the request may go on to the server, which then asks for permission in its own way. `path` is as the server's
 * router reads it.
 */
export async function passesGuard(
  { method, path, owner }: { readonly method: string; readonly path: string; readonly owner: string },
  mayRead: MayRead,
): Promise<boolean> {
  const rules = rulesOf(method, path);
  for (const { rule, params } of rules) {
    if (rule === "asked") continue;
    // The path of a thread, or of a run of a thread, has no other parameters.
    if (rule === "closed" || !Object.values(params).every((id) => UUID.test(id))) return false;
    if (!(await mayRead(params, owner))) return false;
  }
  return rules.length > 0;
}

/** Asks over the loopback. Outside of a server nothing can be asked: nobody may. */
export const mayReadInProcess: MayRead = async ({ thread_id: thread = "", run_id: run }, owner) => {
  if (!isInServer()) return false;
  const client = await inProcessClient(loopbackHeaders(owner));
  try {
    await (run === undefined ? client.threads.get(thread) : client.runs.get(thread, run));
    return true;
  } catch {
    // Whatever the server answers but the thing itself: it is not theirs, not there, or cannot be told.
    return false;
  }
};
