/** Conversations: turns, chains with titles, failed turns, and what leads to them. */
import { z } from "zod";
import { chainSchema, type ChainEntry } from "#src/sessions/chain.ts";
import { erasePartsFromChain, partsSaying, redactedTurnSchema } from "#src/sessions/redaction.ts";
import { itemsUnder, fromTurnItem } from "#src/storage/session-items.ts";
import { sessionIndexNamespace } from "#src/storage/session-namespaces.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import { stringsOf } from "#src/storage/stored-strings.ts";
import { countOf, withoutText, type Found, type Place, type Search } from "../place.ts";
import type { Says } from "../says.ts";
import { remove, storePlace, whatSays } from "./store-place.ts";

/** Which session is whose: ids and names alone. */
export const sessionIndex: Place = {
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
  erase: remove,
};

/** Titles, tasks and models in chains; the chain lists that they went. Where all goes, the chains. */
export const titles: Place = storePlace({
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
});

/** The entries of a stored chain. One that cannot be read is named by verify: nothing can be told of its titles. */
function entriesIn({ value }: Found): ChainEntry[] {
  const chain = chainSchema.safeParse(value);
  return chain.success ? chain.data.sessions : [];
}

function partsIn(entries: readonly ChainEntry[], says: Says): number {
  return entries.flatMap((entry) => partsSaying(entry, says)).length;
}

/** Turns. Those that say a text go as a whole, and a mark stays, so that seals verify. */
export const transcripts: Place = storePlace({
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
});

const failuresSchema = z.object({ failures: z.array(z.unknown()) });

/** Failed turns, a list a session. What is no list counts as one. */
export const failedTurns: Place = storePlace({
  name: "failed turns",
  root: "explanations",
  said: ["failed turn", "failed turns"],
  finds(item, { isWhole, says }) {
    const failures = failuresIn(item);
    const count = isWhole ? failures.length : failures.filter((failure) => failureSays(failure, says)).length;
    return count === 0 ? undefined : { ...item, count };
  },
  async eraseText(found, erasure) {
    const kept = found.map((item) => ({
      ...item,
      failures: failuresIn(item).filter((failure) => !failureSays(failure, erasure.says)),
    }));
    await remove(
      kept.filter(({ failures }) => failures.length === 0),
      erasure,
    );
    for (const { sessionKey, namespace, key, failures } of kept)
      if (failures.length > 0)
        await erasure.storeFor(sessionKey).put([...namespace], key, { failures }, false);
    return countOf(found);
  },
});

function failuresIn({ value }: Found): readonly unknown[] {
  const list = failuresSchema.safeParse(value);
  return list.success ? list.data.failures : [value];
}

function failureSays(failure: unknown, says: Says): boolean {
  return says(stringsOf(failure).join("\n"));
}

const coveringSchema = z.object({ ranges: z.array(z.object({ sessionId: z.string() })) });

/** Summaries of turns go with any of the turns of their session, and of those that it continues. */
export const summaries: Place = storePlace({
  name: "summaries",
  root: "summaries",
  finds: (item, search) => (isTouched(item, search) ? item : whatSays(item, search)),
});

function isTouched({ sessionIds = [], value }: Found, { found }: Search): boolean {
  const touched = new Set(found.get(transcripts.name)?.flatMap((turn) => turn.sessionIds ?? []));
  const covering = coveringSchema.safeParse(value);
  const covered = covering.success ? covering.data.ranges.map(({ sessionId }) => sessionId) : [];
  return [...sessionIds, ...covered].some((id) => touched.has(id));
}

/** What is being answered, as a crash would leave it. */
export const turnsInFlight: Place = storePlace({ name: "turns in flight", root: "in-flight" });

/** Where deliveries went. */
export const deliveries: Place = storePlace({
  name: "deliveries",
  root: "deliveries",
  leaves: withoutText("ids alone, so that nothing is answered twice"),
});

/** Requests to stop a turn. */
export const stopRequests: Place = storePlace({
  name: "stop requests",
  root: "stop-requests",
  leaves: withoutText("ids alone"),
});
