/** Which turns a summary stands for, in how much room, and what a person who asks for one is told. */
import type { SessionDeps } from "#src/app/session-deps.ts";
import type { CompactOutcome } from "#src/commands/command.ts";
import { sectionTokens, summaryBudget, type Summary } from "#src/context/summary.ts";
import type { CallReceipt, GivenTurns } from "#src/sessions/call-receipt.ts";
import { entryOf, readingOrder, type Chain } from "#src/sessions/chain.ts";
import type { CompactedTo, SessionFields } from "#src/sessions/session-fields.ts";
import { turnsNewestFirst } from "#src/sessions/transcript.ts";
import type { ControlCall, TurnRecord } from "#src/sessions/turn-record.ts";
import type { RunContext } from "./run-context.ts";
import { solverOf } from "./locate-session.ts";
import { isCompacted } from "./older-turns.ts";
import { budgetFor, planCall, type CallToPlan } from "./plan-call.ts";
import { summaryOf } from "./summaries.ts";

interface Conversation {
  readonly chain: Chain;
  readonly session: SessionFields;
}

type Place = Pick<TurnRecord, "sessionId" | "turn">;

/** All turns of a conversation up to one of them, in the order in which they are read. */
function rangesTo({ chain, session }: Conversation, { sessionId, turn }: Place): GivenTurns[] {
  const { contextFrom } = session;
  if (contextFrom !== undefined) return [{ sessionId, from: contextFrom, to: turn }];
  const parts = readingOrder(chain, session.sessionId);
  const last = parts.findIndex((part) => part.sessionId === sessionId);
  return parts.slice(0, last + 1).flatMap((part, index) => {
    const all = part.upTo ?? entryOf(chain, part.sessionId)?.sealed?.turns ?? 0;
    const to = index === last ? turn : all;
    return to < 1 ? [] : [{ sessionId: part.sessionId, from: 1, to }];
  });
}

/** A call whose prompt tells the turns that are left out in a summary, where it has room for one. */
export interface SummarisedCall {
  readonly call: CallReceipt;
  readonly summary?: Summary;
  /** The control model that was asked for it now. */
  readonly asked?: readonly ControlCall[];
  /** What the person is told. */
  readonly notices: readonly string[];
}

/** Plans a call, and makes the summary for which the plan has kept room. @throws {LilyError} `message_too_large` */
export async function planSummarised(
  deps: SessionDeps,
  run: RunContext,
  asked: CallToPlan,
): Promise<SummarisedCall> {
  const call = await planCall(deps, asked);
  const { turns: [first] = [], tokens } = call;
  const { summary: budgetTokens } = tokens;
  if (budgetTokens === undefined) return { call, notices: [] };
  const { chain, session } = asked.sources;
  const before =
    first === undefined
      ? { sessionId: session.sessionId, turn: session.turns }
      : { sessionId: first.sessionId, turn: first.from - 1 };
  const ranges = rangesTo({ chain, session }, before);
  const instructions = session.compacted?.instructions;
  const {
    summary,
    notices,
    asked: made,
  } = await summaryOf(deps, run, {
    chain,
    session,
    ranges,
    budgetTokens,
    instructions,
  });
  const told = { ...call, tokens: { ...tokens, summary: sectionTokens(summary) }, summary: summary.ranges };
  if (made === undefined) return { call: told, summary, notices };
  return { call: { ...told, summaryBy: made.model }, summary, notices, asked: [made] };
}

/** Turns that stay as they are when the person asks for a compaction. */
const STAY = 2;

/** Does by hand what a full context does by itself. A summary is stored; the commit of the command makes it count. */
export async function compactNow(
  deps: SessionDeps,
  run: RunContext,
  { chain, session, instructions }: Conversation & { readonly instructions: string },
): Promise<CompactOutcome> {
  const contextTokens = budgetFor(deps, session.activeAgent, solverOf(deps, session));
  const budgetTokens = summaryBudget(contextTokens);
  if (budgetTokens === 0) return { kind: "nothing", why: "the context has no room for a summary" };
  const { older, before } = await olderInFull(deps, run, { chain, session, contextTokens });
  const [newest] = older;
  if (newest === undefined)
    return { kind: "nothing", why: "there are no older turns that are given in full" };
  const boundary: CompactedTo = {
    sessionId: newest.sessionId,
    turn: newest.turn,
    ...(instructions === "" ? {} : { instructions }),
  };
  const { summary, notices, whyNot } = await summaryOf(deps, run, {
    chain,
    session,
    ranges: rangesTo({ chain, session }, newest),
    budgetTokens,
    instructions: boundary.instructions,
    isAnew: instructions !== "",
  });
  const tokens = sectionTokens(summary);
  if (tokens >= before && session.compacted === undefined)
    return {
      kind: "nothing",
      why: `the older turns take ${before} tokens, and a summary would take ${tokens}`,
    };
  const made = { turns: older.length, before, tokens, by: summary.by, notices };
  return { kind: "compacted", boundary, ...made, ...(whyNot === undefined ? {} : { whyNot }) };
}

/** Turns that are not told in a summary yet and are given by a full context, newest first, without the newest of all. */
async function olderInFull(
  deps: SessionDeps,
  { repository }: RunContext,
  { chain, session, contextTokens }: Conversation & { readonly contextTokens: number },
): Promise<{ older: TurnRecord[]; before: number }> {
  const turns = turnsNewestFirst(deps.shownTurns.over(repository, chain), chain, {
    sessionId: session.sessionId,
    latestTurns: session.turns,
    from: session.contextFrom,
  });
  const older: TurnRecord[] = [];
  let before = 0;
  let newest = 0;
  for await (const some of turns)
    for (const record of some) {
      const { tokens } = deps.shownTurns.show(record);
      if (isCompacted(record, { chain, session }) || before + tokens > contextTokens)
        return { older, before };
      if (tokens === 0) continue;
      newest += 1;
      if (newest <= STAY) continue;
      before += tokens;
      older.push(record);
    }
  return { older, before };
}
