/** What a login may do to the resources of a LangGraph server: a decision for each event that the server asks about. */
import { forbidden } from "./refusals.ts";
import { isRecord } from "#src/kernel/json.ts";

/** Use the threads and runs of one's own. The words of permissions are stored in every checkpoint; none is secret. */
const OWN = "own";

/**
 * Go past the graph: write the state of a thread, the raw store, webhooks. For this process and, in open mode, for the
 * programs of this machine; never for one of several users, because the graph believes what its state says.
 */
const RAW = "raw";

/** Find and delete what is of anybody, to erase it: for whoever runs the server. Nothing can be written or run with it. */
const OPERATE = "operate";

/** A login as the server keeps it. */
export interface Login {
  readonly identity: string;
  readonly permissions: string[];
}

/** Who asks for what needs no login. */
export const nobody = (): Login => ({ identity: "anonymous", permissions: [] });

/** Somebody with a key or token. */
export const userLogin = (owner: string): Login => ({ identity: owner, permissions: [OWN] });

/** This process for `owner`, or a program of this machine in open mode. */
export const trustedLogin = (owner: string): Login => ({ identity: owner, permissions: [OWN, RAW] });

/** Whoever runs the server. */
export const operatorLogin = (): Login => ({ identity: "operator", permissions: [OPERATE] });

/** What the server asks. */
export interface AccessQuestion {
  /** `<resource>:<action>`, e.g. `threads:create_run`. */
  readonly event: string;
  /** What the action is about. Its `metadata` may be changed: the server stores what is there afterwards. */
  readonly value: unknown;
  readonly user: { readonly identity: string };
  readonly permissions: readonly string[];
}

/** Only resources whose metadata hold this; `undefined`: all. */
export type AccessFilter = { readonly owner: string } | undefined;

/** Events that bring metadata along, which are stored with the thread or run. */
const STORING = new Set(["threads:create", "threads:update", "threads:create_run"]);

/** What an erasure asks for. */
const ERASING = new Set([
  "store:delete",
  "store:list_namespaces",
  "store:search",
  "threads:delete",
  "threads:read",
  "threads:search",
]);

/**
 * Lets everybody use the threads and runs of their own, and read assistants. Marks what is created or changed with its
 * owner, whatever the caller put there.
 *
 * @throws {LilyError} `forbidden`
 */
export function decideAccess({ event, value, user, permissions }: AccessQuestion): AccessFilter {
  if (permissions.includes(OPERATE)) {
    if (ERASING.has(event)) return undefined;
    throw forbidden(`${event} is not for the operator`, "Use a key of a user.");
  }
  if (!permissions.includes(OWN)) throw forbidden("this needs a login", "Send a key or token.");
  const isRaw = permissions.includes(RAW);
  if (event === "assistants:read" || event === "assistants:search") return undefined;
  if (event.startsWith("store:")) {
    if (isRaw) return undefined;
    throw forbidden(
      "the raw store is not served",
      "Use threads and runs: commands such as /history and /memory show what is yours.",
    );
  }
  // Assistants are those of langgraph.json; this server has no crons; an event that a later version adds is not known.
  if (!event.startsWith("threads:")) throw forbidden(`${event} is not allowed`, "Use threads and runs.");
  if (!isRaw) requireModest(event, value);
  if (STORING.has(event) && isRecord(value)) {
    const { metadata } = value;
    value["metadata"] = { ...(isRecord(metadata) ? metadata : {}), owner: user.identity };
  }
  return { owner: user.identity };
}

/**
 * Refuses what writes the state without the graph's first node. Nodes trust the session in the state, and with it the
 * owner; whoever could write it could read and write the conversations of others.
 */
function requireModest(event: string, value: unknown): void {
  if (!isRecord(value)) return;
  // An update of the state comes without metadata, that of the thread itself with them, a cancellation with both.
  if (event === "threads:update" && !("metadata" in value))
    throw forbidden("the state of a thread cannot be written", "Send messages and commands by runs.");
  const run = event === "threads:create_run" ? value["kwargs"] : undefined;
  if (!isRecord(run)) return;
  const { command, webhook } = run;
  if (command !== undefined && command !== null && !isAnswer(command))
    throw forbidden("a run's command may only hold resume", "Leave update and goto out.");
  if (webhook !== undefined && webhook !== null)
    throw forbidden("webhooks are not called", "Wait for the run, or join its stream.");
}

/** Whether a command holds the answer to an interrupt alone. */
function isAnswer(command: unknown): boolean {
  if (!isRecord(command)) return false;
  // Clients send null for what they leave out.
  return Object.entries(command).every(([name, part]) => name === "resume" || part === null);
}
