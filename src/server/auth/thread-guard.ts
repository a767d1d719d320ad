/** Asks, for routes of a LangGraph server that ask too little themselves, whether somebody may read what they touch. */
import { inProcessClient, isInServer, loopbackHeaders } from "#src/app/loopback.ts";
import { rulesOf, type RouteRule } from "./server-routes.ts";

/** Asks this server within the process: whether `owner` may read `path`. */
export type MayRead = (path: string, owner: string) => Promise<boolean>;

/** What is asked for. */
export interface GuardedRequest {
  readonly method: string;
  /** As the server's router reads it. */
  readonly path: string;
  readonly owner: string;
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu;

/** Whether the request may go on to the server, which then asks for permission in its own way. */
export async function passesGuard(
  { method, path, owner }: GuardedRequest,
  mayRead: MayRead,
): Promise<boolean> {
  const rules = rulesOf(method, path);
  for (const { rule, params } of rules) {
    if (rule === "asked") continue;
    const needed = readableBefore(rule, params);
    if (needed === undefined || !(await mayRead(needed, owner))) return false;
  }
  return rules.length > 0;
}

/** The path of what somebody must be able to read; `undefined` where nobody may go on. */
function readableBefore(
  rule: RouteRule,
  { thread_id: thread = "", run_id: run = "" }: Readonly<Record<string, string>>,
): string | undefined {
  if (rule === "closed" || !UUID.test(thread)) return undefined;
  if (rule === "thread") return `/threads/${thread}`;
  return UUID.test(run) ? `/threads/${thread}/runs/${run}` : undefined;
}

/** Asks over the loopback. Outside of a server nothing can be asked: nobody may. */
export const mayReadInProcess: MayRead = async (path, owner) => {
  if (!isInServer()) return false;
  const [, , thread = "", , run] = path.split("/");
  const client = await inProcessClient(loopbackHeaders(owner));
  try {
    await (run === undefined ? client.threads.get(thread) : client.runs.get(thread, run));
    return true;
  } catch {
    // Whatever the server answers but the thing itself: it is not theirs, not there, or cannot be told.
    return false;
  }
};
