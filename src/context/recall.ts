/** Explicit recall: what was said and is not in the context, each piece with where it stands and why it was read. */
import { type GivenTurns, turnsGiven } from "#src/sessions/call-receipt.ts";
import { entryOf, type Chain } from "#src/sessions/chain.ts";
import { localTime } from "#src/kernel/clock.ts";
import { spokenText } from "#src/sessions/message.ts";
import type { FoundTurn, SessionRepository } from "#src/sessions/repository.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { answerOf, newestTurns } from "#src/sessions/transcript.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { excerptOf } from "./cut-text.ts";
import { rounded } from "./found-sections.ts";

/** A piece of what was said. */
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
  /** Turns that the context holds anyway, as a receipt names them: they are left out. */
  readonly held: GivenTurns[];
  readonly query: string;
  readonly rationale: string;
  readonly limit?: number;
  /** Most characters of all pieces together; the best is given whatever its size. */
  readonly characters: number;
}

const DEFAULT_LIMIT = 10;
const MAX_PIECE_LENGTH = 600;
/** What is looked at to rank: enough that the neighbours of what is shown are among it. */
const CANDIDATES = 200;

/**
 * What a turn counts for the ones beside it, by distance: an answer rarely repeats the words of its question. Chosen on
 * LoCoMo 1 to 5: 57 → 65 of 100 among the first ten; on 6 to 10: 54 → 59.
 */
const BESIDE = [1, 0.4, 0.2, 0.1] as const;
/** Without a wanted word of its own a turn needs more of the best score than one neighbour can give it. */
const WORDLESS = BESIDE[1];

/** The best turns of the key for a query that the context does not hold, best first. */
export async function recallTurns(
  repository: SessionRepository,
  request: RecallRequest,
): Promise<RecalledPiece[]> {
  const { chain, query, rationale, limit = DEFAULT_LIMIT, characters } = request;
  const pieces: RecalledPiece[] = [];
  let [best, left] = [0, characters];
  for (const { sessionId, turn, score } of limit === 0 ? [] : await ranked(repository, request, limit)) {
    const record = await repository.readTurn({ ...keyOf(chain), sessionId }, turn);
    if (record?.kind !== "chat") continue;
    best ||= score;
    const piece = {
      sessionId,
      ordinal: entryOf(chain, sessionId)?.ordinal ?? 0,
      turn,
      at: record.at,
      score: rounded(score / best),
      rationale,
      user: excerptOf(saidIn(record), query, MAX_PIECE_LENGTH),
      assistant: excerptOf(answerOf(record), query, MAX_PIECE_LENGTH),
    };
    left -= piece.user.length + piece.assistant.length;
    if (pieces.length > 0 && left < 0) break;
    pieces.push(piece);
    if (pieces.length === limit) break;
  }
  return pieces;
}

/**
 * The turns that the next prompt of a session holds without being asked: what its last answer was given, and what was said
 * since.
 */
export async function heldNow(
  repository: SessionRepository,
  chain: Chain,
  { sessionId, turns, contextFrom }: Pick<SessionFields, "sessionId" | "turns" | "contextFrom">,
): Promise<GivenTurns[]> {
  const range = { sessionId, latestTurns: turns, from: contextFrom ?? 1, count: LOOKED_AT };
  const last = (await newestTurns(repository, chain, range)).findLast(({ kind }) => kind === "chat");
  if (last === undefined) return [];
  return [...turnsGiven(sessionId, last.explanation), { sessionId, from: last.turn, to: turns }];
}

/** Commands between two answers are few. */
const LOOKED_AT = 32;

/** Places by their own words and by those of the turns beside them. What is held counts for its neighbours alone. */
async function ranked(
  repository: SessionRepository,
  { chain, query, held }: RecallRequest,
  limit: number,
): Promise<FoundTurn[]> {
  const isHeld = ({ sessionId, turn }: FoundTurn): boolean =>
    held.some((range) => range.sessionId === sessionId && range.from <= turn && turn <= range.to);
  for (let searched = Math.max(CANDIDATES, limit * 8); ; searched *= 4) {
    const found = await repository.searchTurns(chain, query, searched);
    const hits = found.filter((place) => !isHeld(place)).length;
    // Commands are left out later, so some more are wanted.
    if (hits < limit * 4 && found.length === searched) continue;
    const places = withNeighbours(found).filter((place) => !isHeld(place));
    const best = places[0]?.score ?? 0;
    const own = new Set(found.map(nameOf));
    return places.filter((place) => own.has(nameOf(place)) || place.score > best * WORDLESS);
  }
}

function withNeighbours(found: readonly FoundTurn[]): FoundTurn[] {
  const places = new Map<string, FoundTurn>();
  for (const { sessionId, turn, score } of found) {
    for (const [distance, weight] of BESIDE.entries()) {
      for (const at of new Set([turn - distance, turn + distance])) {
        const place = { sessionId, turn: at, score: weight * score };
        const name = nameOf(place);
        if (at > 0) places.set(name, { ...place, score: place.score + (places.get(name)?.score ?? 0) });
      }
    }
  }
  return [...places.values()].sort((a, b) => b.score - a.score);
}

function nameOf({ sessionId, turn }: FoundTurn): string {
  return `${turn} ${sessionId}`;
}

function keyOf({ owner, sessionKey }: Chain) {
  return { owner, sessionKey };
}

function saidIn(record: TurnRecord): string {
  return spokenText(record.messages.find((message) => message.role === "user"));
}

/** Recalled pieces as text that says of each what it is. */
export function recalledText(pieces: readonly RecalledPiece[], timeZone: string): string {
  const blocks = pieces.map((piece) => {
    const when = localTime(piece.at, timeZone);
    const head = `[session ${piece.ordinal}, turn ${piece.turn}, ${when}, score ${piece.score}; ${piece.rationale}]`;
    return `${head}\nUser: ${piece.user}\nAssistant: ${piece.assistant}`;
  });
  return `From what was said earlier:\n\n${blocks.join("\n\n")}`;
}
