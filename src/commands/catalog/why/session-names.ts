/** Sessions by the names under which their owner knows them; one of somebody else has none. */
import { entryOf, type Chain } from "#src/sessions/chain.ts";
import type { KeyRef } from "#src/sessions/repository.ts";
import type { CommandContext } from "../../command.ts";

/** A session that the owner has. */
export interface KnownSession {
  readonly ref: KeyRef;
  readonly name: string;
}

/** The sessions with these ids, as far as they are the owner's; chains of other keys are read once each. */
export async function knownSessions(
  { repository, chain, session }: Pick<CommandContext, "repository" | "chain" | "session">,
  ids: Iterable<string>,
): Promise<Map<string, KnownSession>> {
  const known = new Map<string, KnownSession>();
  const chains = new Map<string, Chain | undefined>([[chain.sessionKey, chain]]);
  for (const id of new Set(ids)) {
    const ref = entryOf(chain, id) === undefined ? await repository.findSession(id) : chain;
    // An id may come out of an imported file: what it names is told only to whom it belongs.
    if (ref?.owner !== session.owner) continue;
    const { owner, sessionKey } = ref;
    if (!chains.has(sessionKey)) chains.set(sessionKey, await repository.readChain({ owner, sessionKey }));
    const ordinal = entryOf(chains.get(sessionKey) ?? chain, id)?.ordinal;
    const where = sessionKey === chain.sessionKey ? "" : ` of ${sessionKey}`;
    const name = id === session.sessionId ? "this session" : `session ${ordinal ?? id.slice(0, 8)}${where}`;
    known.set(id, { ref: { owner, sessionKey }, name });
  }
  return known;
}

/** The name of each session; of one that is not known the beginning of its id. */
export function nameFrom(known: ReadonlyMap<string, KnownSession>): (sessionId: string) => string {
  return (sessionId) =>
    known.get(sessionId)?.name ?? `session ${sessionId.slice(0, 8)}, which is not known here`;
}
