/** Explicit recall: pieces of other sessions, each with where it came from, how well it fits and why it was read. */
import { fromInstant } from "#src/kernel/clock.ts";
import { lineageOf, entryOf, type Chain } from "#src/sessions/chain.ts";
import { localMinute } from "#src/sessions/day-boundary.ts";
import { spokenText } from "#src/sessions/message.ts";
import type { FoundTurn, SessionRepository } from "#src/sessions/repository.ts";

/** A piece of an earlier session. */
export interface RecalledPiece {
  readonly sessionId: string;
  readonly ordinal: number;
  readonly turn: number;
  /** ISO instant of the turn. */
  readonly at: string;
  /** How well it fits, as a share of the best piece of the same recall: 1 is the best. */
  readonly score: number;
  readonly rationale: string;
  readonly user: string;
  readonly assistant: string;
}

/** What to recall. */
export interface RecallRequest {
  readonly chain: Chain;
  /** The session that asks; it and what it continues are in its context anyway and are left out. */
  readonly sessionId: string;
  readonly query: string;
  readonly rationale: string;
  readonly limit?: number;
}

const DEFAULT_LIMIT = 5;
const MAX_PIECE_LENGTH = 600;

/** The best turns of other sessions of the key for a query, best first. */
export async function recallTurns(
  repository: SessionRepository,
  request: RecallRequest,
): Promise<RecalledPiece[]> {
  const limit = request.limit ?? DEFAULT_LIMIT;
  const own = new Set(lineageOf(request.chain, request.sessionId));
  const earlier = await findEarlier(repository, request, { own, limit });
  const best = earlier[0]?.score ?? 1;
  return earlier.map(({ sessionId, record, score }) => ({
    sessionId,
    ordinal: entryOf(request.chain, sessionId)?.ordinal ?? 0,
    turn: record.turn,
    at: record.at,
    score: Math.round((score / best) * 100) / 100,
    rationale: request.rationale,
    user: clip(spokenText(record.messages.find((message) => message.role === "user"))),
    assistant: clip(record.messages.findLast((message) => message.role === "assistant")?.content ?? ""),
  }));
}

/** Searches further until enough turns of other sessions are found, or there are no more. */
async function findEarlier(
  repository: SessionRepository,
  { chain, query }: RecallRequest,
  { own, limit }: { readonly own: ReadonlySet<string>; readonly limit: number },
): Promise<FoundTurn[]> {
  for (let searched = limit * 8; ; searched *= 4) {
    const found = await repository.searchTurns(chain, query, searched);
    const earlier = found.filter(({ sessionId, record }) => !own.has(sessionId) && record.kind === "chat");
    if (earlier.length >= limit || found.length < searched) return earlier.slice(0, limit);
  }
}

/** Recalled pieces as text that says of each what it is. */
export function recalledText(pieces: readonly RecalledPiece[], timeZone: string): string {
  const blocks = pieces.map((piece) => {
    const when = localMinute(fromInstant(piece.at), timeZone);
    const head = `[session ${piece.ordinal}, turn ${piece.turn}, ${when}, score ${piece.score}; ${piece.rationale}]`;
    return `${head}\nUser: ${piece.user}\nAssistant: ${piece.assistant}`;
  });
  return `From earlier conversations:\n\n${blocks.join("\n\n")}`;
}

function clip(text: string): string {
  if (text.length <= MAX_PIECE_LENGTH) return text;
  return `${text.slice(0, MAX_PIECE_LENGTH).toWellFormed()} … [clipped, ${text.length} characters]`;
}
