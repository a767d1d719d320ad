/** Reading a conversation: the turns of a session and of what it continues. */
import { entryOf, readingOrder, type Chain, type LineagePart } from "./chain.ts";
import { joinUnits, unitsAfter, type HeldUnit } from "./knowledge-units.ts";
import { joinLedgers, type Ledger } from "./ledger.ts";
import type { StoredTurn } from "./redaction.ts";
import type { SessionRepository, TranscriptRef } from "./repository.ts";
import { ledgerAfter } from "./session-changes.ts";
import type { TurnBody, TurnRecord } from "./turn-record.ts";

const CHUNK = 32;

/** What reading a transcript takes: of whole turns, or of marks as well. */
export interface TurnReader<T extends StoredTurn = TurnRecord> extends Pick<
  SessionRepository,
  "lastStoredTurn"
> {
  readonly readTurns: (
    ref: TranscriptRef,
    range: { readonly from: number; readonly to: number },
  ) => Promise<T[]>;
}

/** Reads the marks of erased turns in their places. */
export function withMarks(repository: SessionRepository): TurnReader<StoredTurn> {
  return {
    lastStoredTurn: (ref) => repository.lastStoredTurn(ref),
    readTurns: (ref, range) => repository.readStoredTurns(ref, range),
  };
}

/** Which turns of a conversation are read. */
export interface TurnRange {
  readonly sessionId: string;
  /** Committed turns of the session, where they are known. */
  readonly latestTurns?: number;
  /** First turn of the session to read; what is before it, and what the session continues, is left out. */
  readonly from?: number | undefined;
}

/** Turns of a session and its lineage from the newest to the oldest, some at a time, read as they are asked for. */
export async function* turnsNewestFirst<T extends StoredTurn>(
  repository: TurnReader<T>,
  chain: Chain,
  range: TurnRange,
): AsyncGenerator<readonly T[]> {
  const parts: readonly LineagePart[] =
    range.from === undefined ? readingOrder(chain, range.sessionId) : [{ sessionId: range.sessionId }];
  const first = range.from ?? 1;
  for (const { sessionId, upTo } of parts.toReversed()) {
    const ref = { owner: chain.owner, sessionKey: chain.sessionKey, sessionId };
    const known = sessionId === range.sessionId ? range.latestTurns : upTo;
    let to = known ?? entryOf(chain, sessionId)?.sealed?.turns ?? (await repository.lastStoredTurn(ref));
    while (to >= first) {
      const from = Math.max(first, to - CHUNK + 1);
      const turns = await repository.readTurns(ref, { from, to });
      yield turns.toReversed();
      to = from - 1;
    }
  }
}

/** The newest `count` turns of a session and its lineage, oldest first. */
export async function newestTurns<T extends StoredTurn>(
  repository: TurnReader<T>,
  chain: Chain,
  { count, ...range }: TurnRange & { readonly count: number },
): Promise<T[]> {
  return firstTurns(turnsNewestFirst(repository, chain, range), count);
}

/** The newest `count` of turns that come newest first, oldest first; no more are read than it takes. */
export async function firstTurns<T>(newestFirst: AsyncIterable<readonly T[]>, count: number): Promise<T[]> {
  const turns: T[] = [];
  for await (const some of newestFirst) {
    turns.push(...some);
    if (turns.length >= count) break;
  }
  return turns.slice(0, count).toReversed();
}

/** Text of the turn's last assistant message, `""` when there is none. */
export function answerOf(turn: Pick<TurnBody, "messages">): string {
  return turn.messages.findLast((message) => message.role === "assistant")?.content ?? "";
}

/** What a session is handed by turns: those that it continues, and its own. */
export interface Noted {
  readonly ledger: Ledger | undefined;
  readonly units: readonly HeldUnit[] | undefined;
}

/** What was noted after one more turn, or its mark. */
function notedAfter({ ledger, units }: Noted, stored: StoredTurn): Noted {
  return {
    ledger: ledgerAfter(ledger, stored.changes, stored.turn),
    units: unitsAfter(units, stored),
  };
}

/** Ledger and knowledge units with which a session begins: of what it continues, as far as it reads that. */
export async function inheritedNotes(
  repository: SessionRepository,
  chain: Chain,
  sessionId: string,
): Promise<Noted> {
  const { continues = [], continuesUpTo } = entryOf(chain, sessionId) ?? {};
  const parts: (Noted & { readonly sessionId: string })[] = [];
  for (const earlier of continues) {
    const ref = { owner: chain.owner, sessionKey: chain.sessionKey, sessionId: earlier };
    let noted = await inheritedNotes(repository, chain, earlier);
    const to =
      continuesUpTo?.[earlier] ??
      entryOf(chain, earlier)?.sealed?.turns ??
      (await repository.lastStoredTurn(ref));
    for (const stored of await repository.readStoredTurns(ref, { from: 1, to }))
      noted = notedAfter(noted, stored);
    parts.push({ sessionId: earlier, ...noted });
  }
  const ledgers = parts.flatMap(({ sessionId: of, ledger }) =>
    ledger === undefined ? [] : [{ sessionId: of, ledger }],
  );
  return { ledger: ledgers.length === 0 ? undefined : joinLedgers(ledgers), units: joinUnits(parts) };
}
