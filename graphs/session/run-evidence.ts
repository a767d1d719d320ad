/** The evidence of a run: reached in the owner's name alone, and what of it a turn is given. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { choosePassages } from "#src/context/found-sections.ts";
import type { Shelf, TurnPlan } from "#src/preparation/plugins.ts";
import type { UsedPlugin } from "#src/sessions/plugin-choices.ts";
import { MAX_LEFT, type LeftCandidate } from "#src/sessions/turn-record.ts";
import { shortId } from "#memory/record.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { createEvidenceBook, type EvidenceBook, type FoundEvidence } from "#memory/evidence/evidence-book.ts";
import { DEFAULT_KB } from "#memory/namespaces.ts";
import { policyOf } from "./policy-of.ts";
import { runSlot } from "./prepare-turn.ts";
import { memoryOwner, questionIn, recallBudget, scanWith } from "./run-memory.ts";
import type { RunContext } from "./run-context.ts";

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

/** Passages for a turn, the plugin that found them, and what became of the knowledge bases. */
export interface TurnEvidence {
  readonly found: readonly FoundEvidence[];
  readonly used?: UsedPlugin;
  /** Those that are still mounted, where some are gone. */
  readonly kbs?: readonly string[];
  readonly notices: readonly string[];
  /** The best of the passages that were looked at and are not given. */
  readonly notGiven: readonly LeftCandidate[];
}

/**
 * The passages that fit what a turn looks for, of the knowledge bases that are mounted; the default one, of all documents that
 * were given for none by name, is unless it was unmounted. Each costs one read where it has no document.
 */
export async function evidenceForTurn(
  deps: SessionDeps,
  { store }: RunContext,
  { session, plan }: { readonly session: SessionFields; readonly plan: TurnPlan },
): Promise<TurnEvidence> {
  const book = evidenceOf(deps, store);
  const { evidenceTokens } = deps.limits;
  const { timeZone } = policyOf(deps, session);
  const owner = memoryOwner(deps, session);
  const nothing = { found: [], notices: [], notGiven: [] };
  if (book === undefined || owner === undefined || evidenceTokens === 0) return nothing;
  const who = { owner };
  const mounted = mountedKbs(session);
  const filled = await Promise.all(mounted.map((kb) => book.of(kb).hasAny(who)));
  const gone = mounted.filter((kb, at) => kb !== DEFAULT_KB && filled[at] !== true);
  const left =
    gone.length === 0
      ? { notices: [] }
      : { kbs: mounted.filter((kb) => !gone.includes(kb)), notices: gone.map(goneText) };
  const searched = mounted.filter((_kb, at) => filled[at] === true);
  if (searched.length === 0 || !plan.phases.includes("kb-plugin")) return { ...nothing, ...left };
  const { value, used } = await runSlot(deps, session, "kb", async (plugin) => {
    const given = new Map<string, FoundEvidence>();
    const shelf: Shelf = {
      knowsMeaning: deps.searchesByMeaning === true,
      async search(query, limit) {
        const passages = await book.search(who, questionIn(query), limit, searched);
        for (const one of passages) given.set(nameOf(one), one);
        return passages;
      },
    };
    const passages = await plugin.search(plan.queries, shelf);
    const found = passages.flatMap((one) => given.get(nameOf(one)) ?? []);
    return { found, looked: [...given.values()] };
  });
  const { found, looked } = value;
  const given = choosePassages(found.slice(0, GIVEN), recallBudget(deps.limits, evidenceTokens), timeZone);
  return { found: given, ...left, used, notGiven: notGivenOf(looked, { found, given }) };
}

/** Those that the plugin did not choose fit worse; of the others there are enough, or there is no room. */
function notGivenOf(
  looked: readonly FoundEvidence[],
  { found, given }: Record<"found" | "given", readonly FoundEvidence[]>,
): LeftCandidate[] {
  return looked
    .filter((one) => !given.includes(one))
    .toSorted((a, b) => b.score - a.score)
    .slice(0, MAX_LEFT)
    .map((one): LeftCandidate => {
      const { source_id, index } = one.piece;
      const rule = !found.includes(one) ? "weak" : found.indexOf(one) < GIVEN ? "room" : "most";
      return ["passage", `${index + 1} of ${shortId(source_id)}`, rule, Math.round(one.score * 100) / 100];
    });
}

function goneText(kb: string): string {
  return `The knowledge base “${kb}” has no documents any more; it is not mounted here from now on.`;
}

/** The knowledge bases of a session. */
function mountedKbs({ kbs = [DEFAULT_KB] }: Pick<SessionFields, "kbs">): readonly string[] {
  return kbs;
}

const nameOf = ({ piece }: FoundEvidence): string => `${piece.source_id}/${piece.version}/${piece.index}`;
