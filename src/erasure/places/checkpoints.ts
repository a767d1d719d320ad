/**
 * Checkpoints: all of a session of which something is erased, of one that reads it, and of one whose stored states say it. They
 * may be thrown away: the next turn makes the state anew from the transcript. What waited for a person counts as not approved.
 */
import { stringsIn } from "#src/kernel/json.ts";
import { lineageOf } from "#src/sessions/chain.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import { countOf, type ErasureDeps, type Found, type Place, type Search } from "../place.ts";
import type { Says } from "../says.ts";

export const checkpoints: Place = {
  name: "checkpoints",
  note: "sessions; they go on from their transcripts",
  find: (search) => (search.isWhole ? allThreads(search) : threadsSaying(search)),
  async erase(found, { deps }) {
    for (const { key } of found) await deps.storage.checkpointer.deleteThread(key);
    return countOf(found);
  },
};

async function threadsSaying({ deps, owner, says, found }: Search): Promise<Found[]> {
  const touched = new Set([...found.values()].flat().flatMap(({ sessionIds = [] }) => sessionIds));
  const threads: Found[] = [];
  const repository = createStoreSessionRepository(deps.storage.store);
  for (const chain of await repository.listChains(owner, () => undefined)) {
    const { sessionKey } = chain;
    for (const { sessionId } of chain.sessions) {
      const isTouched = lineageOf(chain, sessionId).some((id) => touched.has(id));
      const isThere = await statesSay(deps, sessionId, isTouched ? () => true : says);
      // Of one that is touched also what cannot be read.
      if (isTouched || isThere)
        threads.push({ sessionKey, namespace: [], key: sessionId, count: Number(isThere) });
    }
  }
  return threads;
}

async function allThreads({ deps, owner, sessionKey, found }: Search): Promise<Found[]> {
  const known = [...found.values()].flat().flatMap(({ sessionIds = [] }) => sessionIds);
  const ids = new Set([...known, ...((await deps.threadsOf?.(owner, sessionKey)) ?? [])]);
  const threads: Found[] = [];
  // Also where nothing can be read: deleting a thread that there is not changes nothing.
  for (const key of ids)
    threads.push({ namespace: [], key, count: Number(await statesSay(deps, key, () => true)) });
  return threads;
}

/** Whether a stored state of the thread says it. One that cannot be read may say anything. */
async function statesSay({ storage }: ErasureDeps, threadId: string, says: Says): Promise<boolean> {
  try {
    for await (const tuple of storage.checkpointer.list({ configurable: { thread_id: threadId } })) {
      const { checkpoint, metadata, pendingWrites } = tuple;
      const plain: unknown = JSON.parse(
        JSON.stringify([checkpoint, metadata ?? null, pendingWrites ?? null]),
      );
      if (says(stringsIn(plain).join("\n"))) return true;
    }
    return false;
  } catch {
    return true;
  }
}
