/** The turns before the one that is answered: how they are read, their order, and which of them had given way before. */
import type { SessionDeps } from "#src/app/session-deps.ts";
import { callsOf, type CallReceipt, type LeftOut } from "#src/sessions/call-receipt.ts";
import { entryOf, readingOrder, type Chain } from "#src/sessions/chain.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { turnsNewestFirst } from "#src/sessions/transcript.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import type { RunContext } from "./run-context.ts";
import type { TurnInFlight } from "./state.ts";

/** A session in its chain. */
interface Conversation {
  readonly chain: Chain;
  readonly session: SessionFields;
}

/** The turns before the one that is answered. */
export interface OlderTurns {
  readonly newestFirst: () => AsyncGenerator<readonly TurnRecord[]>;
  /** First turn of the session that is context, where the working set was cleared in place. */
  readonly from: number | undefined;
}

/** The turns of a conversation before `turn`. */
export function olderTurnsOf(
  deps: SessionDeps,
  run: RunContext,
  { chain, session, turn }: Conversation & { readonly turn: TurnInFlight },
): OlderTurns {
  const from = turn.clears === true ? turn.number : session.contextFrom;
  return {
    from,
    newestFirst: () =>
      turnsNewestFirst(deps.shownTurns.over(run.repository, chain), chain, {
        sessionId: session.sessionId,
        latestTurns: session.turns,
        from,
      }),
  };
}

/** A turn by its session and number. */
export type Place = Pick<TurnRecord, "sessionId" | "turn">;

/** Whether a turn had given way in the call before, or the person had it told in a summary. */
export function isLeftOut(
  of: Place,
  before: Pick<CallReceipt, "leftOut"> | undefined,
  within: Conversation & Pick<OlderTurns, "from">,
): boolean {
  const { leftOut } = before ?? {};
  const wasOut = leftOut !== undefined && placeIn(of, within) <= lastOut(leftOut, within);
  return wasOut || isCompacted(of, within);
}

/** The place of the last turn that was left out. */
function lastOut(
  { from, to, earlier = 0 }: LeftOut,
  within: Conversation & Pick<OlderTurns, "from">,
): number {
  return to < from ? earlier : placeIn({ sessionId: within.session.sessionId, turn: to }, within);
}

/**
 * What the call before was given, also where it was one of a session that this one continues: what gave way then stays so.
 *
 * @param record of the turn that made it
 */
export function lastCallOf(
  { sessionId, explanation: { calls } }: TurnRecord,
  { chain, session }: Conversation,
): CallReceipt | undefined {
  const last = callsOf(sessionId, calls).at(-1);
  if (last === undefined) return undefined;
  const { steps: _steps, leftOut, ...given } = last;
  if (leftOut === undefined) return given;
  if (sessionId === session.sessionId) return { ...given, leftOut };
  const lastTurn = { sessionId, turn: leftOut.to };
  const earlier =
    leftOut.to < leftOut.from
      ? (leftOut.earlier ?? 0)
      : placeIn(lastTurn, { chain, session, from: undefined });
  return { ...given, leftOut: { from: 1, to: 0, earlier } };
}

/** Whether the person had it told in a summary. */
export function isCompacted(of: Place, { chain, session }: Conversation): boolean {
  const { compacted } = session;
  const within = { chain, session, from: session.contextFrom };
  return compacted !== undefined && placeIn(of, within) <= placeIn(compacted, within);
}

/** The place of a turn in the conversation, from 1. */
export function placeIn(
  of: Place,
  { chain, session, from }: Conversation & Pick<OlderTurns, "from">,
): number {
  if (from !== undefined) return of.turn;
  let before = 0;
  for (const { sessionId, upTo } of readingOrder(chain, session.sessionId)) {
    if (sessionId === of.sessionId) return before + of.turn;
    before += upTo ?? entryOf(chain, sessionId)?.sealed?.turns ?? 0;
  }
  return before;
}
