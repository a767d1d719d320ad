/** Reading a conversation: the turns of a session and of what it continues. */
import { lineageOf, type Chain, entryOf } from "./chain.ts";
import type { SessionRepository } from "./repository.ts";
import type { TurnRecord } from "./turn-record.ts";

const CHUNK = 32;

/** Turns of `sessionId` and its lineage from the newest to the oldest, read as they are asked for. */
export async function* turnsNewestFirst(
  repository: SessionRepository,
  chain: Chain,
  options: { readonly sessionId: string; readonly latestTurns?: number },
): AsyncGenerator<TurnRecord> {
  for (const sessionId of lineageOf(chain, options.sessionId).toReversed()) {
    const ref = { owner: chain.owner, sessionKey: chain.sessionKey, sessionId };
    const known = sessionId === options.sessionId ? options.latestTurns : undefined;
    let to = known ?? entryOf(chain, sessionId)?.sealed?.turns ?? (await countTurns(repository, ref));
    while (to > 0) {
      const from = Math.max(1, to - CHUNK + 1);
      const turns = await repository.readTurns(ref, { from, to });
      yield* turns.toReversed();
      to = from - 1;
    }
  }
}

/** The newest `count` turns of a session and its lineage, oldest first. */
export async function newestTurns(
  repository: SessionRepository,
  chain: Chain,
  options: { readonly sessionId: string; readonly count: number; readonly latestTurns?: number },
): Promise<TurnRecord[]> {
  const turns: TurnRecord[] = [];
  for await (const turn of turnsNewestFirst(repository, chain, options)) {
    if (turns.length >= options.count) break;
    turns.push(turn);
  }
  return turns.toReversed();
}

/** Number of committed turns of a transcript: the last number that has a record, found in steps that double. */
export async function countTurns(
  repository: SessionRepository,
  ref: { readonly owner: string; readonly sessionKey: string; readonly sessionId: string },
): Promise<number> {
  const exists = async (turn: number): Promise<boolean> =>
    (await repository.readTurn(ref, turn)) !== undefined;
  let low = 0;
  let high = 1;
  while (await exists(high)) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (await exists(middle)) low = middle;
    else high = middle;
  }
  return low;
}
