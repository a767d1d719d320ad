/** What an erasure changes in a chain: it lists what is erased, and takes out what the chain itself says of it. Pure. */
import type { Chain, ChainEntry } from "./chain.ts";
import type { EntryPart } from "./chain-entry.ts";
import { partOf, withoutParts } from "./entry-parts.ts";
import { listRedaction, type Redaction } from "./redaction-list.ts";

/** Turns that are erased. */
export interface TurnErasure {
  /** ISO instant. */
  readonly at: string;
  readonly turns: readonly { readonly sessionId: string; readonly turn: number }[];
  /** The deliveries of those turns: the hash of the text of one that opened a session goes as well. */
  readonly deliveryIds: ReadonlySet<string>;
}

/** The chain that lists the erasure of turns; the same chain when it lists them all already. */
export function eraseTurnsFromChain(chain: Chain, { at, turns, deliveryIds }: TurnErasure): Chain {
  const sessions = [...new Set(turns.map(({ sessionId }) => sessionId))];
  const added = sessions.map((sessionId) => ({
    sessionId,
    at,
    turns: turns.filter((turn) => turn.sessionId === sessionId).map(({ turn }) => turn),
  }));
  return erase(chain, {
    at,
    added,
    partsOf: ({ opened }) => (deliveryIds.has(opened.deliveryId) ? ["opened"] : []),
  });
}

/** The chain without the titles, tasks and models that say something; the same chain when none does. */
export function erasePartsFromChain(chain: Chain, says: (text: string) => boolean, at: string): Chain {
  return erase(chain, { at, added: [], partsOf: (entry) => partsSaying(entry, says) });
}

/** The title, the task and the models of an entry, as far as they say something. */
export function partsSaying(entry: ChainEntry, says: (text: string) => boolean): EntryPart[] {
  return (["title", "task", "style", "kbs", "models"] as const).filter((part) => {
    const text = partOf(entry, part);
    return text !== undefined && says(text);
  });
}

interface Erasure {
  readonly at: string;
  readonly added: readonly Redaction[];
  readonly partsOf: (entry: ChainEntry) => readonly EntryPart[];
}

function erase(chain: Chain, { at, added, partsOf }: Erasure): Chain {
  const before: readonly Redaction[] = chain.redactions ?? [];
  let list = added.reduce(listRedaction, before);
  const sessions = chain.sessions.map((entry) => {
    const parts = partsOf(entry).filter((part) => partOf(entry, part) !== undefined);
    if (parts.length === 0) return entry;
    list = listRedaction(list, { sessionId: entry.sessionId, at, parts: [...parts] });
    return withoutParts(entry, parts);
  });
  if (list === before && sessions.every((entry, index) => entry === chain.sessions[index])) return chain;
  return { ...chain, revision: chain.revision + 1, sessions, redactions: [...list] };
}
