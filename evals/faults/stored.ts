/** What is stored of a key, read as a whole: its chain, and every turn of every session. */
import type { Chain } from "#src/sessions/chain.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { KEY, OWNER, type Subject } from "./subject.ts";

/** A key as it is stored. */
export interface StoredKey {
  readonly chain: Chain;
  /** In the order of the chain. */
  readonly sessions: readonly { readonly sessionId: string; readonly turns: readonly TurnRecord[] }[];
}

/** Reads a key; `undefined` when nothing was ever said on it. */
export async function readStored(
  { sessions: { repository } }: Subject,
  sessionKey = KEY,
): Promise<StoredKey | undefined> {
  const chain = await repository.readChain({ owner: OWNER, sessionKey });
  if (chain === undefined) return undefined;
  const sessions: StoredKey["sessions"][number][] = [];
  for (const { sessionId } of chain.sessions) {
    const ref = { owner: OWNER, sessionKey, sessionId };
    const to = await repository.lastStoredTurn(ref);
    sessions.push({ sessionId, turns: await repository.readTurns(ref, { from: 1, to }) });
  }
  return { chain, sessions };
}

/** All turns of a key, oldest first. */
export function turnsOf({ sessions }: StoredKey): TurnRecord[] {
  return sessions.flatMap(({ turns }) => turns);
}

/** The same without the turns of some deliveries. */
export function withoutTurns({ chain, sessions }: StoredKey, deliveryIds: readonly string[] = []): StoredKey {
  return {
    chain,
    sessions: sessions.map(({ sessionId, turns }) => ({
      sessionId,
      turns: turns.filter(({ deliveryId }) => !deliveryIds.includes(deliveryId)),
    })),
  };
}
