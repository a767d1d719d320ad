/** Verifies what is stored: every turn against the hash chain, every seal against its session and its successor. */
import { errorMessage } from "#src/kernel/errors.ts";
import { entryOf, sealEntry, type Chain, type ChainEntry } from "./chain.ts";
import { partOf, partProblems, uncoveredOf } from "./entry-parts.ts";
import { erasedParts, erasedTurns } from "./redaction-list.ts";
import type { SessionRepository, TranscriptRef } from "./repository.ts";
import { EMPTY_HEAD } from "./seal.ts";
import { checkTurn } from "./verify-turn.ts";

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
  readonly erased: ErasedCount;
  readonly problems: readonly VerifyProblem[];
}

/** How much was erased. */
export interface ErasedCount {
  readonly turns: number;
  /** Titles, and tasks that sessions were handed. */
  readonly titles: number;
}

const NOTHING: ErasedCount = { turns: 0, titles: 0 };

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
    return reportOf(problems);
  }
}

/**
 * Verifies one chain. The end of the open session is not sealed yet: that its last turns are there is known to its own
 * state alone.
 */
async function verifyChain(repository: SessionRepository, chain: Chain): Promise<VerifyReport> {
  const reports: VerifyReport[] = [];
  for (const [index, entry] of chain.sessions.entries()) {
    const links = linkProblems(chain, entry, chain.sessions[index - 1]);
    const transcript = await verifyTranscript(repository, chain, entry);
    const problems = [...links, ...transcript.problems].map((found) => problemIn(chain, entry, found));
    const erased = { turns: transcript.erased, titles: erasedTitles(chain, entry) };
    reports.push({ ...reportOf(problems), sessions: 1, turns: transcript.turns, erased });
  }
  return combineReports(reports, strayErasures(chain));
}

/** An erasure that is on record for a session that there is not. */
function strayErasures(chain: Chain): VerifyProblem[] {
  return (chain.redactions ?? [])
    .filter(({ sessionId }) => entryOf(chain, sessionId) === undefined)
    .map(({ sessionId }) =>
      problemIn(
        chain,
        { sessionId, ordinal: 0 },
        { turn: null, problem: "an erasure is on record, and no such session" },
      ),
    );
}

function erasedTitles(chain: Chain, entry: ChainEntry): number {
  return erasedParts(chain, entry.sessionId).filter(
    (part) => part !== "opened" && partOf(entry, part) === undefined,
  ).length;
}

function problemIn(
  { sessionKey }: Chain,
  { sessionId, ordinal }: Pick<ChainEntry, "sessionId" | "ordinal">,
  found: Found,
): VerifyProblem {
  return { sessionKey, sessionId, ordinal, ...found };
}

function reportOf(problems: readonly VerifyProblem[]): VerifyReport {
  return { ok: problems.length === 0, sessions: 0, turns: 0, erased: NOTHING, problems };
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

interface Found {
  readonly turn: number | null;
  readonly problem: string;
}

function linkProblems(chain: Chain, entry: ChainEntry, before: ChainEntry | undefined): Found[] {
  const found: string[] = [];
  const isLatest = entry.sessionId === chain.latest;
  if (entry.previous !== (before?.sessionId ?? null))
    found.push("its link to the session before it is wrong");
  if (entry.previousSeal !== (before?.sealed?.seal ?? null))
    found.push("the session before it has another seal now");
  if (isLatest && entry.sealed !== undefined) found.push("it is latest and sealed at once");
  if (!isLatest && entry.sealed === undefined) found.push("it is neither latest nor sealed");
  return found.map((problem) => ({ turn: null, problem }));
}

async function verifyTranscript(
  repository: SessionRepository,
  chain: Chain,
  entry: ChainEntry,
): Promise<{ readonly turns: number; readonly erased: number; readonly problems: readonly Found[] }> {
  const ref = { owner: chain.owner, sessionKey: chain.sessionKey, sessionId: entry.sessionId };
  const turns = entry.sealed?.turns ?? (await readable(() => repository.lastStoredTurn(ref))) ?? 0;
  const listed = erasedTurns(chain, entry.sessionId);
  let head = EMPTY_HEAD;
  let erased = 0;
  const problems: Found[] = [];
  for (let turn = 1; turn <= turns; turn += 1) {
    const checked = await checkTurn(repository, ref, { turn, head, erasedAt: listed.get(turn) });
    if (checked.problem !== undefined) problems.push({ turn, problem: checked.problem });
    if (checked.isErased) erased += 1;
    head = checked.head;
  }
  for (const turn of listed.keys())
    if (turn > turns) problems.push({ turn, problem: "its erasure is on record, and it is not there" });
  const seal = await sealProblems(repository, chain, { entry, head, ref });
  return { turns, erased, problems: [...problems, ...seal] };
}

async function sealProblems(
  repository: SessionRepository,
  chain: Chain,
  checked: {
    readonly entry: ChainEntry;
    readonly head: string;
    readonly ref: TranscriptRef;
  },
): Promise<Found[]> {
  const { entry, head, ref } = checked;
  const erased = erasedParts(chain, entry.sessionId);
  const found = partProblems(entry, erased);
  if (entry.sealed === undefined) return found.map((problem) => ({ turn: null, problem }));
  const { turns, seal } = entry.sealed;
  if (entry.sealed.head !== head) found.push("its transcript is not the one that was sealed");
  // A seal over what was erased cannot be computed again: then it is the successor, which holds it, that vouches for it.
  if (uncoveredOf(entry, erased).length === 0 && sealEntry(chain, entry, entry.sealed) !== seal)
    found.push("its entry is not the one that was sealed");
  const last = await readable(() => repository.lastStoredTurn(ref));
  if (last !== undefined && last > turns) found.push("a turn was added after it was sealed");
  return found.map((problem) => ({ turn: null, problem }));
}

/** A value that may not be readable; what is wrong with it is found where it is checked. */
async function readable<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch {
    return undefined;
  }
}
