/** Which turn of a session is asked about, by its number, as the last one, or among those that failed. */
import { fromInstant } from "#src/kernel/clock.ts";
import { isRedacted, type RedactedTurn, type StoredTurn } from "#src/sessions/redaction.ts";
import type { FailedTurn, SessionRepository, TranscriptRef } from "#src/sessions/repository.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";

/** What was found; of failures also which one it is, from the newest, and of how many. */
export type WhichTurn =
  | { readonly kind: "turn"; readonly turn: TurnRecord }
  | { readonly kind: "erased"; readonly turn: RedactedTurn }
  | { readonly kind: "failure"; readonly failure: FailedTurn; readonly place: number; readonly of: number }
  /** Nothing was said yet. */
  | { readonly kind: "session" }
  | { readonly kind: "missing"; readonly what: string };

type Session = TranscriptRef & { readonly turns: number };

/**
 * Finds it: `3`, `last` (also `""`), `failed` or `failed 2`, counted from the newest; `failed-2` is the same.
 *
 * @returns `undefined` where the words are none of these
 */
export async function findWhichTurn(
  repository: SessionRepository,
  session: Session,
  words: string,
): Promise<WhichTurn | undefined> {
  const asked = words.trim().toLowerCase().replace(/^#/u, "");
  if (asked === "" || asked === "last") return lastOf(repository, session);
  const failed = /^failed(?:[\s-]+(\d{1,3}))?$/u.exec(asked);
  if (failed !== null) return failureOf(await repository.readFailures(session), Number(failed[1] ?? 1));
  return /^\d{1,9}$/u.test(asked) ? turnOf(repository, session, Number(asked)) : undefined;
}

async function turnOf(repository: SessionRepository, session: Session, number: number): Promise<WhichTurn> {
  const turn = await repository.readStoredTurn(session, number);
  if (turn === undefined) {
    const what = `there is no turn ${number} in this session, which has ${session.turns}`;
    return { kind: "missing", what };
  }
  return isRedacted(turn) ? { kind: "erased", turn } : { kind: "turn", turn };
}

function failureOf(failures: readonly FailedTurn[], place: number): WhichTurn {
  const failure = place < 1 ? undefined : failures.at(-place);
  if (failure !== undefined) return { kind: "failure", failure, place, of: failures.length };
  const none = failures.length === 0 ? "no turn of this session has failed" : undefined;
  return { kind: "missing", what: none ?? `${failures.length} failed turns of this session are kept` };
}

/** The newest turn, or what failed after it. */
async function lastOf(repository: SessionRepository, session: Session): Promise<WhichTurn> {
  const failures = await repository.readFailures(session);
  const failure = failures.at(-1);
  const turn = session.turns === 0 ? undefined : await repository.readStoredTurn(session, session.turns);
  if (failure !== undefined && isNewer(failure, turn)) return failureOf(failures, 1);
  return session.turns === 0 ? { kind: "session" } : turnOf(repository, session, session.turns);
}

/** A turn has a number and a failure has none: the clock tells which was later. The same instant is the failure's. */
function isNewer(failure: FailedTurn, turn: Pick<StoredTurn, "at" | "deliveryId"> | undefined): boolean {
  if (turn === undefined) return true;
  return fromInstant(failure.at) >= fromInstant(turn.at) && failure.deliveryId !== turn.deliveryId;
}
