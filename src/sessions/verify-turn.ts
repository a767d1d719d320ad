/** Verifies one turn against the hash chain and the erasures on record. */
import { errorMessage } from "#src/kernel/errors.ts";
import { isRedacted, type StoredTurn } from "./redaction.ts";
import type { SessionRepository, TranscriptRef } from "./repository.ts";
import { leafOf, nextHead, unlinkTurn } from "./seal.ts";

/** Where a turn stands. */
export interface TurnPlace {
  readonly turn: number;
  /** Head of the turns before it. */
  readonly head: string;
  /** When it was erased, as the chain lists it; `undefined` when it was not. */
  readonly erasedAt: string | undefined;
}

/** What was found. */
export interface CheckedTurn {
  /** To go on from: the stored head, so that each turn that fails is named and those after it are not. */
  readonly head: string;
  readonly problem: string | undefined;
  /** Only its mark is left, and that was asked for. */
  readonly isErased: boolean;
}

/** Checks a turn. */
export async function checkTurn(
  repository: SessionRepository,
  ref: TranscriptRef,
  place: TurnPlace,
): Promise<CheckedTurn> {
  let stored: StoredTurn | undefined;
  try {
    stored = await repository.readStoredTurn(ref, place.turn);
  } catch (error) {
    return { head: place.head, problem: `it cannot be read: ${errorMessage(error)}`, isErased: false };
  }
  if (stored === undefined) return { head: place.head, problem: "it is missing", isErased: false };
  const problem = problemOf(stored, ref, place);
  return { head: stored.head, problem, isErased: isRedacted(stored) && problem === undefined };
}

function problemOf(stored: StoredTurn, ref: TranscriptRef, place: TurnPlace): string | undefined {
  const problem = isRedacted(stored)
    ? erasureProblem(stored.redacted.at, place.erasedAt)
    : bodyProblem(stored, place.erasedAt);
  if (problem !== undefined) return problem;
  if (stored.turn !== place.turn || stored.sessionId !== ref.sessionId) return "it belongs somewhere else";
  return nextHead(place.head, stored.leaf) === stored.head
    ? undefined
    : "it does not follow the turn before it";
}

function erasureProblem(markedAt: string, listedAt: string | undefined): string | undefined {
  if (listedAt === undefined) return "it was erased, and no erasure is on record";
  return markedAt === listedAt ? undefined : "it was erased at another time than is on record";
}

function bodyProblem(
  stored: Parameters<typeof unlinkTurn>[0],
  erasedAt: string | undefined,
): string | undefined {
  const { body, leaf, salt } = unlinkTurn(stored);
  if (leafOf(body, salt) !== leaf) return "its text is not what was committed";
  return erasedAt === undefined ? undefined : "its erasure did not finish: erase it again";
}
