/**
 * Every place where something of a person is kept, in the order in which it is looked for: what is found by way of another place
 * comes behind it. It is erased in the opposite order, so that a crash at any moment leaves what the rest is found by when the
 * same is asked for again. A new place is one more row here.
 */
import { z } from "zod";
import { errorMessage } from "#src/kernel/errors.ts";
import { encodeLabel } from "#src/kernel/ids.ts";
import { stringsIn } from "#src/kernel/json.ts";
import { chainSchema, lineageOf, type ChainEntry } from "#src/sessions/chain.ts";
import { erasePartsFromChain, partsSaying, redactedTurnSchema } from "#src/sessions/redaction.ts";
import {
  itemsUnder,
  namespacesUnder,
  fromTurnItem,
  sessionIndexNamespace,
} from "#src/storage/session-items.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import { stringsOf } from "#src/storage/stored-strings.ts";
import { blobs, evidence, itemsInAll, memory, memoryOfKey, ofPerson, tombstones } from "./belongings.ts";
import {
  countOf,
  remove,
  sessionsIn,
  whatSays,
  type ErasureDeps,
  type Found,
  type Place,
  type Search,
} from "./place.ts";
import type { Says } from "./says.ts";

/** A place of ids and names alone: it goes with a person or a conversation, and stays when a text is erased. */
const withoutText =
  (why: string) =>
  ({ isWhole }: Search): string | undefined =>
    isWhole ? undefined : why;

/** What another version has put below a root that this one does not know: all of a person's, none of a text. */
const otherData: Place = {
  name: "other data",
  async find({ deps, owner, sessionKey, isWhole }) {
    if (!isWhole) return [];
    const known = new Set(PLACES.map(({ root }) => root));
    return itemsInAll(
      deps.storage.store,
      (await namespacesUnder(deps.storage.store)).filter(
        ([root, label, key]) =>
          !known.has(root) &&
          label === encodeLabel(owner) &&
          (sessionKey === undefined || key === encodeLabel(sessionKey)),
      ),
    );
  },
};

/** Which session is whose: ids and names alone. */
const sessionIndex: Place = {
  name: "session index",
  root: "session-index",
  leaves: withoutText("ids and names of conversations alone"),
  async find({ deps, owner, sessionKey }) {
    const found: Found[] = [];
    for await (const { namespace, key, value } of itemsUnder(deps.storage.store, sessionIndexNamespace)) {
      const ofKey = typeof value["sessionKey"] === "string" ? value["sessionKey"] : undefined;
      if (value["owner"] !== owner || (sessionKey !== undefined && ofKey !== sessionKey)) continue;
      found.push({ sessionKey: ofKey, namespace, key, sessionIds: [key] });
    }
    return found;
  },
};

/** Titles, tasks and models in chains; the chain lists that they went. Where all goes, the chains. */
const titles: Place = {
  name: "titles",
  root: "sessions",
  said: ["title", "titles"],
  finds(item, { isWhole, says }) {
    const entries = entriesIn(item).filter((entry) => isWhole || partsSaying(entry, says).length > 0);
    const sessionIds = entries.map(({ sessionId }) => sessionId);
    if (isWhole) return { ...item, sessionIds };
    return entries.length === 0 ? undefined : { ...item, sessionIds, count: partsIn(entries, says) };
  },
  async eraseText(found, { owner, says, at, storeFor }) {
    let erased = 0;
    for (const { sessionKey = "" } of found) {
      const repository = createStoreSessionRepository(storeFor(sessionKey));
      const chain = await repository.readChain({ owner, sessionKey });
      if (chain === undefined) continue;
      await repository.writeChain(erasePartsFromChain(chain, says, at));
      erased += partsIn(chain.sessions, says);
    }
    return erased;
  },
};

/** The entries of a stored chain. One that cannot be read is named by verify: nothing can be told of its titles. */
function entriesIn({ value }: Found): ChainEntry[] {
  return chainSchema.safeParse(value).data?.sessions ?? [];
}

function partsIn(entries: readonly ChainEntry[], says: Says): number {
  return entries.flatMap((entry) => partsSaying(entry, says)).length;
}

/** Turns. Those that say a text go as a whole, and a mark stays, so that seals verify. */
const transcripts: Place = {
  name: "transcripts",
  root: "history",
  said: ["turn", "turns"],
  note: "whole turns with replies, commands, knowledge units and explanations; each left a mark",
  finds(item, search) {
    if (search.isWhole) return item;
    const isMark = redactedTurnSchema.safeParse(fromTurnItem(item.value, item)).success;
    return !isMark && search.says(stringsOf(item.value).join("\n")) ? item : undefined;
  },
  async eraseText(found, { owner, at, storeFor }) {
    let erased = 0;
    for (const sessionKey of new Set(found.map((item) => item.sessionKey ?? ""))) {
      const turns = found
        .filter((item) => item.sessionKey === sessionKey)
        .map(({ key, sessionIds: [sessionId = ""] = [] }) => ({ sessionId, turn: Number.parseInt(key, 10) }));
      const repository = createStoreSessionRepository(storeFor(sessionKey));
      erased += (await repository.redactTurns({ owner, sessionKey }, turns, at)).redacted;
    }
    return erased;
  },
};

const failuresSchema = z.object({ failures: z.array(z.unknown()) });

/** Failed turns, a list a session. What is no list counts as one. */
const failedTurns: Place = {
  name: "failed turns",
  root: "explanations",
  said: ["failed turn", "failed turns"],
  finds(item, { isWhole, says }) {
    const failures = failuresIn(item);
    const count = isWhole ? failures.length : failures.filter((failure) => failureSays(failure, says)).length;
    return count === 0 ? undefined : { ...item, count };
  },
  async eraseText(found, erasure) {
    for (const item of found) {
      const failures = failuresIn(item).filter((failure) => !failureSays(failure, erasure.says));
      if (failures.length === 0) await remove([item], erasure);
      else await erasure.storeFor(item.sessionKey).put([...item.namespace], item.key, { failures }, false);
    }
    return countOf(found);
  },
};

function failuresIn({ value }: Found): readonly unknown[] {
  return failuresSchema.safeParse(value).data?.failures ?? [value];
}

function failureSays(failure: unknown, says: Says): boolean {
  return says(stringsOf(failure).join("\n"));
}

const coveringSchema = z.object({ ranges: z.array(z.object({ sessionId: z.string() })) });

/** Summaries of turns go with any of the turns of their session, and of those that it continues. */
const summaries: Place = {
  name: "summaries",
  root: "summaries",
  finds(item, search) {
    const touched = new Set(search.found.get(transcripts.name)?.flatMap((turn) => turn.sessionIds ?? []));
    const covered = coveringSchema.safeParse(item.value).data?.ranges ?? [];
    const ids = [...(item.sessionIds ?? []), ...covered.map(({ sessionId }) => sessionId)];
    return ids.some((id) => touched.has(id)) ? item : whatSays(item, search);
  },
};

/**
 * Checkpoints: all of a session of which something is erased, of one that reads it, and of one whose stored states say it. They
 * may be thrown away: the next turn makes the state anew from the transcript. What waited for a person counts as not approved.
 */
const checkpoints: Place = {
  name: "checkpoints",
  note: "sessions; they go on from their transcripts",
  find: (search) => (search.isWhole ? allThreads(search) : threadsSaying(search)),
  async erase(found, { deps }) {
    for (const { key } of found) await deps.storage.checkpointer.deleteThread(key);
    return countOf(found);
  },
};

async function threadsSaying({ deps, owner, says, found }: Search): Promise<Found[]> {
  const touched = sessionsIn(found);
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
  const ids = new Set([...sessionsIn(found), ...((await deps.threadsOf?.(owner, sessionKey)) ?? [])]);
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

/** Lines that were typed at this machine. A file that cannot be written is told of: the rest is erased all the same. */
const inputHistory: Place = {
  name: "input history",
  leaves: (search) =>
    search.deps.typed?.owner === search.owner
      ? ofPerson(search)
      : "what was typed in a terminal is in its own history; erase it there",
  async find({ deps: { typed }, says }) {
    const count = typed?.count(says) ?? 0;
    return count === 0 ? [] : [{ namespace: [], key: "lines", count }];
  },
  async erase(_found, { deps: { typed }, says }) {
    try {
      return typed?.erase(says) ?? 0;
    } catch (error) {
      return errorMessage(error);
    }
  },
};

/** The places. */
export const PLACES: readonly Place[] = [
  otherData,
  sessionIndex,
  // By whose ids and words one asks again: after all that says the same.
  tombstones,
  memory,
  memoryOfKey,
  titles,
  transcripts,
  failedTurns,
  // What is being answered, as a crash would leave it.
  { name: "turns in flight", root: "in-flight" },
  summaries,
  {
    name: "deliveries",
    root: "deliveries",
    leaves: withoutText("ids alone, so that nothing is answered twice"),
  },
  { name: "stop requests", root: "stop-requests", leaves: withoutText("ids alone") },
  evidence,
  blobs,
  checkpoints,
  inputHistory,
];
