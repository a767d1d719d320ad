/** The evidence of a run: reached in the owner's name alone, and what of it a turn is given. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { evidenceSection, type EvidenceSection } from "#src/context/evidence-section.ts";
import type { Shelf, TurnPlan } from "#src/preparation/plugins.ts";
import type { UsedPlugin } from "#src/sessions/plugin-choices.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { createEvidenceBook, type EvidenceBook } from "#memory/evidence/evidence-book.ts";
import type { FoundEvidence } from "#memory/evidence/evidence-rows.ts";
import { policyOf } from "./policy-of.ts";
import { runSlot } from "./prepare-turn.ts";
import { questionIn, recallBudget } from "./recall-bounds.ts";
import type { RunContext } from "./run-context.ts";
import { memoryOwner, scanWith } from "./run-memory.ts";

/** Passages that a turn is given at most. */
const GIVEN = 3;

/** The evidence book of a run; `undefined` when memory is switched off. */
export function evidenceOf(
  deps: Pick<SessionDeps, "clock" | "memory" | "scanSecrets">,
  store: BaseStore,
): EvidenceBook | undefined {
  if (deps.memory?.enabled === false) return undefined;
  return createEvidenceBook(store, { clock: deps.clock, scan: scanWith(deps) });
}

/**
 * The passages that fit what a turn looks for, of the documents that the owner of `session` gave, and the plugin that found
 * them. To give one is to ask for it to be used, so there is no switch beside the budget and the plan. Without documents it
 * costs one read.
 */
export async function evidenceForTurn(
  deps: SessionDeps,
  { store }: RunContext,
  { session, plan }: { readonly session: SessionFields; readonly plan: TurnPlan },
): Promise<EvidenceSection & { readonly used?: UsedPlugin }> {
  const book = evidenceOf(deps, store);
  const { evidenceTokens } = deps.limits;
  const { timeZone } = policyOf(deps, session);
  const owner = memoryOwner(deps, session);
  if (book === undefined || owner === undefined || evidenceTokens === 0 || !plan.phases.includes("kb-plugin"))
    return evidenceSection([], 0, timeZone);
  const who = { owner };
  if (!(await book.hasAny(who))) return evidenceSection([], 0, timeZone);
  const { value: found, used } = await runSlot(deps, session, "kb", async (plugin) => {
    const given = new Map<string, FoundEvidence>();
    const shelf: Shelf = {
      knowsMeaning: deps.searchesByMeaning === true,
      async search(query, limit) {
        const passages = await book.search(who, questionIn(query), limit);
        for (const one of passages) given.set(nameOf(one), one);
        return passages;
      },
    };
    const passages = await plugin.search(plan.queries, shelf);
    return passages.flatMap((one) => given.get(nameOf(one)) ?? []);
  });
  const section = evidenceSection(found.slice(0, GIVEN), recallBudget(deps.limits, evidenceTokens), timeZone);
  return { ...section, used };
}

const nameOf = ({ piece }: FoundEvidence): string => `${piece.source_id}/${piece.version}/${piece.index}`;
