/** Which threads are sessions, by everything in the store that names one. */
import type { Database } from "better-sqlite3";
import { hasTable } from "./lease-rows.ts";

// A session counts as known when the index or a chain has it: when either is wrong, nothing of it may be removed.
const IN_INDEX = `SELECT 1 FROM items AS i JOIN namespaces AS n ON n.id = i.namespace_id
  WHERE n.path = 'session-index.' AND i.key = ?`;
const IN_CHAINS = `SELECT j.value ->> '$.sessionId' FROM items AS i JOIN namespaces AS n ON n.id = i.namespace_id,
  json_each(i.value, '$.sessions') AS j WHERE n.path >= 'sessions.' AND n.path < 'sessions/'`;

/** The sessions of a store file. The index is asked anew each time, so that a session that begins now is known. */
export interface KnownSessions {
  has(threadId: string): boolean;
  /** Sessions that stand in a chain. */
  readonly inChains: number;
}

/** Reads the sessions in `db`. */
export function knownSessionsIn(db: Database): KnownSessions {
  if (!hasTable(db, "items")) return { has: () => false, inChains: 0 };
  const inIndex = db.prepare<[string]>(IN_INDEX);
  const inChains = new Set(db.prepare<[], string>(IN_CHAINS).pluck().all());
  return {
    has: (threadId) => inChains.has(threadId) || inIndex.get(threadId) !== undefined,
    inChains: inChains.size,
  };
}
