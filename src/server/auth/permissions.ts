/** What a login may do on a LangGraph server. The words are stored in the metadata of every checkpoint; none is secret. */

/** Use the threads and runs of one's own. */
export const OWN = "own";

/**
 * Go past the graph: write the state of a thread, the raw store, webhooks. For this process and, in open mode, for the
 * programs of this machine; never for one of several users, because the graph believes what its state says.
 */
export const RAW = "raw";

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
