/** The port by which a server learns of threads that begin by a hand-off. */

/** A thread that begins. */
export interface ThreadStart {
  readonly sessionId: string;
  readonly owner: string;
  readonly sessionKey: string;
  /** The message to run there at once, where the caller does not do it. */
  readonly message?: { readonly id: string; readonly content: string | object[] };
}

/** Registers threads with whatever lists them. */
export interface ThreadRegistrar {
  /** Makes the thread known, and enqueues its first run when a message is given. Never waits for that run. */
  start(thread: ThreadStart): Promise<void>;
}

/** For backends where a thread needs no registration. */
export const noThreadRegistrar: ThreadRegistrar = { start: async () => undefined };
