/** The barrier: what is done before turns leave the context, so that nothing of value goes with them. */
import { type GivenTurns, isWithin } from "#src/sessions/call-receipt.ts";
import { errorMessage } from "#src/kernel/errors.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import type { KeptNote } from "#src/context/summary.ts";
import { openEntries } from "#src/sessions/ledger.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { counted } from "#src/kernel/markdown.ts";
import type { RunContext } from "./run-context.ts";
import { memoryOf } from "./run-memory.ts";

/** Turns that leave. */
interface Leaving {
  readonly deps: SessionDeps;
  readonly run: RunContext;
  readonly session: SessionFields;
  /** What the summary in their place covers. */
  readonly ranges: GivenTurns[];
  /** Facts about the user that the model which read them would have remembered. */
  readonly offered: readonly string[];
}

/** What one saver did. */
interface Saved {
  /** What the summary must hold. */
  readonly notes?: readonly KeptNote[];
  /** What the person is told. */
  readonly notice?: string;
}

/** One that keeps something of them. Done twice it keeps the same. */
type Saver = (leaving: Leaving) => Saved | Promise<Saved>;

/** All of them, in order. */
const SAVERS: readonly Saver[] = [keepLedger, keepUnits, offerFacts];

/** Runs every saver. One that fails is told of and holds nothing up: the transcript has all that it would have kept. */
export async function saveLeaving(leaving: Leaving): Promise<{ notes: KeptNote[]; notices: string[] }> {
  const notes: KeptNote[] = [];
  const notices: string[] = [];
  for (const save of SAVERS) {
    try {
      const saved = await save(leaving);
      const isOfThese = (note: KeptNote): boolean => leaving.ranges.some((range) => isWithin(note, range));
      notes.push(...(saved.notes ?? []).filter(isOfThese));
      if (saved.notice !== undefined) notices.push(saved.notice);
    } catch (error) {
      notices.push(`Something of older turns could not be put aside: ${errorMessage(error)}.`);
    }
  }
  return { notes, notices };
}

/** The ledger stands in the session since the turns that wrote it; what is open of these turns stays in their summary too. */
function keepLedger({ session }: Leaving): Saved {
  const notes = openEntries(session.ledger).map(({ kind, number, text, turn, sessionId }) => ({
    sessionId: sessionId ?? session.sessionId,
    turn,
    text: `noted as ${kind} ${number}: ${text}`,
  }));
  return { notes };
}

/** Units are committed with their turns; what a model made of these turns stays in their summary too, whose own words quote the rest. */
function keepUnits({ session }: Leaving): Saved {
  const notes = (session.units ?? [])
    .filter(({ role, id }) => role !== "Statement" && id === undefined)
    .map(({ sessionId = session.sessionId, turn, role, claim }) => ({
      sessionId,
      turn,
      text: `noted as ${role.toLowerCase()}: ${claim}`,
    }));
  return { notes };
}

/** Whether facts may be offered to the person's memory. */
export function mayOfferFacts({ memory }: Pick<SessionDeps, "memory">): boolean {
  return memory.enabled && memory.tool;
}

/** Facts wait for the person's word: nothing is remembered silently. */
async function offerFacts({ deps, run, session, offered }: Leaving): Promise<Saved> {
  const memory = mayOfferFacts(deps) ? memoryOf(deps, run.store, { session }) : undefined;
  if (memory === undefined) return {};
  let waiting = 0;
  for (const text of offered) {
    const fact = { text, saidBy: "assistant", source: "inference", isOffered: true } as const;
    const outcome = await memory.facts.remember(memory.who, fact);
    if (outcome.kind === "quarantined") waiting += 1;
  }
  if (waiting === 0) return {};
  return { notice: `${counted(waiting, "fact")} of older turns may be worth remembering: /memory review.` };
}
