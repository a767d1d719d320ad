/** The evidence of a run: reached in the owner's name alone, and what of it a turn is given. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { evidenceSection, fittingEvidence, type EvidenceSection } from "#src/context/evidence-section.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { createEvidenceBook, type EvidenceBook } from "#memory/evidence/evidence-book.ts";
import { policyOf } from "./policy-of.ts";
import { questionIn, recallBudget } from "./recall-bounds.ts";
import type { RunContext } from "./run-context.ts";
import { memoryOwner, scanWith } from "./run-memory.ts";

/** Passages that a turn is given at most. */
const GIVEN = 3;
/** Passages of which those are chosen that fit. */
const CANDIDATES = 12;

/** The evidence book of a run; `undefined` when memory is switched off. */
export function evidenceOf(
  deps: Pick<SessionDeps, "clock" | "memory" | "scanSecrets">,
  store: BaseStore,
): EvidenceBook | undefined {
  if (deps.memory?.enabled === false) return undefined;
  return createEvidenceBook(store, { clock: deps.clock, scan: scanWith(deps) });
}

/**
 * The passages that fit what the user said, of the documents that the owner of `session` gave. To give one is to ask for
 * it to be used, so there is no switch beside the budget. Without documents it costs one read.
 */
export async function evidenceForTurn(
  deps: SessionDeps,
  { store }: RunContext,
  { session, turn }: { readonly session: SessionFields; readonly turn: { readonly text: string } },
): Promise<EvidenceSection> {
  const book = evidenceOf(deps, store);
  const { evidenceTokens } = deps.limits;
  const { timeZone } = policyOf(deps, session);
  const owner = memoryOwner(deps, session);
  if (book === undefined || owner === undefined || evidenceTokens === 0)
    return evidenceSection([], 0, timeZone);
  const who = { owner };
  if (!(await book.hasAny(who))) return evidenceSection([], 0, timeZone);
  const query = questionIn(turn.text);
  const found = await book.search(who, query, CANDIDATES);
  // What was found by its meaning need not have the words.
  const fitting = deps.searchesByMeaning === true ? found : fittingEvidence(found, query);
  return evidenceSection(fitting.slice(0, GIVEN), recallBudget(deps.limits, evidenceTokens), timeZone);
}
