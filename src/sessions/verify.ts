/** Verifies what is stored: every turn against the hash chain, every seal against its session and its successor. */
import { errorMessage } from "#src/kernel/errors.ts";
import { partOf, partProblems, uncoveredOf } from "./chain-entry.ts";
import { entryOf, sealEntry, type Chain, type ChainEntry } from "./chain.ts";
import { erasedParts, erasedTurns, isRedacted, type StoredTurn } from "./redaction.ts";
import type { SessionRepository, TranscriptRef } from "./repository.ts";
import { EMPTY_HEAD, leafOf, nextHead, unlinkTurn } from "./seal.ts";
import type { TurnRecord } from "./turn-record.ts";

/** Something that is not as it was committed. */
export interface VerifyProblem {
  readonly sessionKey: string;
  readonly sessionId: string;
  readonly ordinal: number;
  /** Number of the turn that fails; `null` when it is the session as a whole. */
  readonly turn: number | null;
  readonly problem: string;
}

/** What a verification found. */
export interface VerifyReport {
  readonly ok: boolean;
  readonly sessions: number;
  /** Turns in all, erased ones included. */
  readonly turns: number;
  /** What was erased on request, as the chains list it: that is no problem. */
  readonly erased: {
    readonly turns: number;
    /** Titles, and tasks that sessions were handed. */
    readonly titles: number;
  };
  readonly problems: readonly VerifyProblem[];
}

/** Verifies all chains of an owner, or of one key. A chain that cannot be read is a problem, not an exception. */
export async function verifyOwner(
  repository: SessionRepository,
  owner: string,
  sessionKey?: string,
): Promise<VerifyReport> {
  const problems: VerifyProblem[] = [];
  const onDamaged = (sessionId: string, problem: string): void => {
    problems.push({ sessionKey: sessionKey ?? "", sessionId, ordinal: 0, turn: null, problem });
  };
  try {
    const chains =
      sessionKey === undefined
        ? await repository.listChains(owner, ({ where, problem }) => onDamaged(where, problem))
        : [await repository.readChain({ owner, sessionKey })].filter((chain) => chain !== undefined);
    const reports: VerifyReport[] = [];
    for (const chain of chains) reports.push(await verifyChain(repository, chain));
    const orphans = sessionKey === undefined ? await repository.orphanTranscripts(owner, chains) : [];
    for (const place of orphans) onDamaged(place, "its turns are stored, but no chain has the session");
    return combineReports(reports, problems);
  } catch (error) {
    onDamaged("", errorMessage(error));
    return combineReports([], problems);
  }
}

async function verifyChain(repository: SessionRepository, chain: Chain): Promise<VerifyReport> {
  const reports: VerifyReport[] = [];
  for (const [index, entry] of chain.sessions.entries())
    reports.push(await verifySession(repository, chain, { entry, before: chain.sessions[index - 1] }));
  const strays = (chain.redactions ?? []).filter(({ sessionId }) => entryOf(chain, sessionId) === undefined);
  return combineReports(
    reports,
    strays.map(({ sessionId }) => ({
      sessionKey: chain.sessionKey,
      sessionId,
      ordinal: 0,
      turn: null,
      problem: "an erasure is on record, and no such session",
    })),
  );
}

/**
 * Verifies one session. The end of the open one is not sealed yet: that its last turns are there is known to its own state
 * alone.
 */
async function verifySession(
  repository: SessionRepository,
  chain: Chain,
  { entry, before }: { readonly entry: ChainEntry; readonly before: ChainEntry | undefined },
): Promise<VerifyReport> {
  const { owner, sessionKey } = chain;
  const { sessionId, ordinal } = entry;
  const ref = { owner, sessionKey, sessionId };
  const last = await lastReadable(repository, ref);
  const turns = entry.sealed?.turns ?? last ?? 0;
  const gone = erasedTurns(chain, sessionId);
  const found: Pick<VerifyProblem, "turn" | "problem">[] = [];
  let head = EMPTY_HEAD;
  let erased = 0;
  for (let turn = 1; turn <= turns; turn += 1) {
    const checked = await checkTurn(repository, ref, { turn, head, erasedAt: gone.get(turn) });
    if (checked.problem !== undefined) found.push({ turn, problem: checked.problem });
    if (checked.isErased) erased += 1;
    head = checked.head;
  }
  for (const turn of gone.keys())
    if (turn > turns) found.push({ turn, problem: "its erasure is on record, and it is not there" });
  const whole = (problem: string) => ({ turn: null, problem });
  const all = [
    ...linkProblems(chain, entry, before).map(whole),
    ...found,
    ...sealProblems(chain, entry, { head, last }).map(whole),
  ];
  const titles = erasedParts(chain, sessionId).filter(
    (part) => part !== "opened" && partOf(entry, part) === undefined,
  );
  return {
    ok: all.length === 0,
    sessions: 1,
    turns,
    erased: { turns: erased, titles: titles.length },
    problems: all.map((problem) => ({ sessionKey, sessionId, ordinal, ...problem })),
  };
}

/** One report of several, and of problems that belong to none of them. */
export function combineReports(
  reports: readonly VerifyReport[],
  more: readonly VerifyProblem[],
): VerifyReport {
  const problems = [...reports.flatMap((report) => report.problems), ...more];
  const sum = (count: (report: VerifyReport) => number): number =>
    reports.reduce((total, report) => total + count(report), 0);
  return {
    ok: problems.length === 0,
    sessions: sum(({ sessions }) => sessions),
    turns: sum(({ turns }) => turns),
    erased: { turns: sum(({ erased }) => erased.turns), titles: sum(({ erased }) => erased.titles) },
    problems,
  };
}

function linkProblems(chain: Chain, entry: ChainEntry, before: ChainEntry | undefined): string[] {
  const found: string[] = [];
  const isLatest = entry.sessionId === chain.latest;
  if (entry.previous !== (before?.sessionId ?? null))
    found.push("its link to the session before it is wrong");
  if (entry.previousSeal !== (before?.sealed?.seal ?? null))
    found.push("the session before it has another seal now");
  if (isLatest && entry.sealed !== undefined) found.push("it is latest and sealed at once");
  if (!isLatest && entry.sealed === undefined) found.push("it is neither latest nor sealed");
  return found;
}

function sealProblems(
  chain: Chain,
  entry: ChainEntry,
  { head, last }: { readonly head: string; readonly last: number | undefined },
): string[] {
  const erased = erasedParts(chain, entry.sessionId);
  const found = partProblems(entry, erased);
  if (entry.sealed === undefined) return found;
  const { turns, seal } = entry.sealed;
  if (entry.sealed.head !== head) found.push("its transcript is not the one that was sealed");
  // A seal over what was erased cannot be computed again: then it is the successor, which holds it, that vouches for it.
  if (uncoveredOf(entry, erased).length === 0 && sealEntry(chain, entry, entry.sealed) !== seal)
    found.push("its entry is not the one that was sealed");
  if (last !== undefined && last > turns) found.push("a turn was added after it was sealed");
  return found;
}

/** `undefined` where that cannot be read: what is wrong is found turn by turn. */
async function lastReadable(repository: SessionRepository, ref: TranscriptRef): Promise<number | undefined> {
  try {
    return await repository.lastStoredTurn(ref);
  } catch {
    return undefined;
  }
}

/** Where a turn stands: behind the head of the turns before it; and when it was erased, as the chain lists it. */
interface TurnPlace {
  readonly turn: number;
  readonly head: string;
  readonly erasedAt: string | undefined;
}

interface CheckedTurn {
  /** To go on from: the stored head, so that each turn that fails is named and those after it are not. */
  readonly head: string;
  readonly problem: string | undefined;
  /** Only its mark is left, and that was asked for. */
  readonly isErased: boolean;
}

async function checkTurn(
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

function bodyProblem(stored: TurnRecord, erasedAt: string | undefined): string | undefined {
  const { body, leaf, salt } = unlinkTurn(stored);
  if (leafOf(body, salt) !== leaf) return "its text is not what was committed";
  return erasedAt === undefined ? undefined : "its erasure did not finish: erase it again";
}
