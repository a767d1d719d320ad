/** The port by which a server learns of the threads of a key: which one is latest, and which begin by a hand-off. */
import { entryOf, latestEntry, type Chain } from "#src/sessions/chain.ts";
import type { KeyRef } from "#src/sessions/repository.ts";

/** What a session's thread says of it, so that a client finds the latest one of a key by a search. */
export interface ThreadLabel extends KeyRef {
  readonly sessionId: string;
  /** The session has ended; of the threads of a key, one is not sealed. */
  readonly sealed: boolean;
}

/** A thread that begins. */
export interface ThreadStart extends KeyRef {
  readonly sessionId: string;
  /** The message to run there at once, where the caller does not do it. */
  readonly message?: { readonly id: string; readonly content: string | object[] };
}

/** Registers threads with whatever lists them. */
export interface ThreadRegistrar {
  /** Makes the thread known, and enqueues its first run when a message is given. Never waits for that run. */
  start(thread: ThreadStart): Promise<void>;
  /** Writes what the thread says of its session. Never rejects: the next hand-off writes it again. */
  label(thread: ThreadLabel): Promise<void>;
}

/** For backends where a thread needs no registration. */
export const noThreadRegistrar: ThreadRegistrar = {
  start: async () => undefined,
  label: async () => undefined,
};

/** Labels the threads about which a chain has last changed: the latest session's, and that of the one before it. */
export async function labelThreads(threads: ThreadRegistrar, chain: Chain): Promise<void> {
  const { owner, sessionKey } = chain;
  const latest = latestEntry(chain);
  const ended = latest.previous === null ? undefined : entryOf(chain, latest.previous);
  for (const { sessionId, sealed } of [ended, latest].filter((entry) => entry !== undefined))
    await threads.label({ owner, sessionKey, sessionId, sealed: sealed !== undefined });
}
