/** Verifies what is stored: every turn against the hash chain, every seal against its session and its successor. */
import { errorMessage } from "#src/kernel/errors.ts";
import type { Chain, ChainEntry } from "./chain.ts";
import { sealEntry } from "./chain.ts";
import type { SessionRepository } from "./repository.ts";
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
  readonly turns: number;
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
    return combine([...reports, { ok: problems.length === 0, sessions: 0, turns: 0, problems }]);
  } catch (error) {
    onDamaged("", errorMessage(error));
    return { ok: false, sessions: 0, turns: 0, problems };
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
    const problems = [...links, ...transcript.problems].map((found) => ({
      sessionKey: chain.sessionKey,
      sessionId: entry.sessionId,
      ordinal: entry.ordinal,
      ...found,
    }));
    reports.push({ ok: problems.length === 0, sessions: 1, turns: transcript.turns, problems });
  }
  return combine(reports);
}

function combine(reports: readonly VerifyReport[]): VerifyReport {
  const problems = reports.flatMap((report) => report.problems);
  return {
    ok: problems.length === 0,
    sessions: reports.reduce((sum, report) => sum + report.sessions, 0),
    turns: reports.reduce((sum, report) => sum + report.turns, 0),
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
): Promise<{ readonly turns: number; readonly problems: readonly Found[] }> {
  const ref = { owner: chain.owner, sessionKey: chain.sessionKey, sessionId: entry.sessionId };
  const turns = entry.sealed?.turns ?? (await readable(() => repository.lastStoredTurn(ref))) ?? 0;
  let head = EMPTY_HEAD;
  const problems: Found[] = [];
  for (let turn = 1; turn <= turns; turn += 1) {
    const checked = await checkTurn(repository, ref, { turn, head });
    if (checked.problem !== undefined) problems.push({ turn, problem: checked.problem });
    head = checked.head;
  }
  return { turns, problems: [...problems, ...(await sealProblems(repository, chain, { entry, head, ref }))] };
}

async function checkTurn(
  repository: SessionRepository,
  ref: { readonly owner: string; readonly sessionKey: string; readonly sessionId: string },
  at: { readonly turn: number; readonly head: string },
): Promise<{ readonly head: string; readonly problem: string | undefined }> {
  let record: TurnRecord | undefined;
  try {
    record = await repository.readTurn(ref, at.turn);
  } catch (error) {
    return { head: at.head, problem: `it cannot be read: ${errorMessage(error)}` };
  }
  if (record === undefined) return { head: at.head, problem: "it is missing" };
  const { body, salt, leaf, head } = unlinkTurn(record);
  // Go on from the stored head, so that each turn that fails is named and those after it are not.
  if (leafOf(body, salt) !== leaf) return { head, problem: "its text is not what was committed" };
  if (body.turn !== at.turn || body.sessionId !== ref.sessionId)
    return { head, problem: "it belongs somewhere else" };
  return {
    head,
    problem: nextHead(at.head, leaf) === head ? undefined : "it does not follow the turn before it",
  };
}

async function sealProblems(
  repository: SessionRepository,
  chain: Chain,
  checked: {
    readonly entry: ChainEntry;
    readonly head: string;
    readonly ref: { owner: string; sessionKey: string; sessionId: string };
  },
): Promise<Found[]> {
  const { entry, head, ref } = checked;
  if (entry.sealed === undefined) return [];
  const found: string[] = [];
  const { turns, seal } = entry.sealed;
  if (entry.sealed.head !== head) found.push("its transcript is not the one that was sealed");
  if (sealEntry(chain, entry, entry.sealed) !== seal) found.push("its entry is not the one that was sealed");
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
