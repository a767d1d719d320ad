/**
 * Runs that a server's restart left behind: LangGraph's development server lists them as `running` for ever, and no
 * later run on their thread begins. Found and removed here, before a run that would wait for them.
 */
import type { Client } from "@langchain/langgraph-sdk";

/** The calls of the client that are used here. */
export interface OrphanClient {
  readonly runs: Pick<Client["runs"], "list" | "delete">;
  readonly threads: Pick<Client["threads"], "getHistory">;
}

/** What the search for orphans works with. */
export interface OrphanDeps {
  /** When the server's process began, milliseconds since the epoch by the clock that stamps its runs. */
  readonly serverStartedAtMs: number;
  readonly sleep: (ms: number) => Promise<void>;
}

/** A run that began has written its first checkpoint after this long. */
const FIRST_CHECKPOINT_MS = 1500;

/**
 * Removes the orphan of a thread, if it has one, with the checkpoints of its unfinished turn. What it had committed is
 * in the transcript, from which the next run brings the checkpoint up to date.
 *
 * A run is taken for an orphan when the server lists it as running, it is older than the server's process, and it has
 * written nothing since that process began, seen twice. A run that was waiting at the restart and began after it has
 * written by the second look. Holds only where one process is the whole server.
 */
export async function removeOrphan(
  client: OrphanClient,
  threadId: string,
  deps: OrphanDeps,
): Promise<boolean> {
  const suspect = await findSuspect(client, threadId, deps);
  if (suspect === undefined) return false;
  await deps.sleep(FIRST_CHECKPOINT_MS);
  if ((await findSuspect(client, threadId, deps)) !== suspect) return false;
  // Two messages may arrive at once; to the second one the run is gone.
  await client.runs.delete(threadId, suspect).catch(() => undefined);
  return true;
}

/** Id of the run that looks like an orphan now. */
async function findSuspect(
  client: OrphanClient,
  threadId: string,
  { serverStartedAtMs }: OrphanDeps,
): Promise<string | undefined> {
  const running = await client.runs.list(threadId, { status: "running" });
  const old = running.find((run) => Date.parse(run.created_at) < serverStartedAtMs);
  if (old === undefined) return undefined;
  const [newest] = await client.threads.getHistory(threadId, { limit: 1 });
  const wroteAtMs = Date.parse(newest?.created_at ?? "");
  return wroteAtMs >= serverStartedAtMs ? undefined : old.run_id;
}
