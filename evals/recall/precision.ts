/** Measures what is kept apart: facts that were replaced, facts of other tasks, and facts of other people. */
import type { FactStore } from "#memory/facts/fact-store.ts";
import type { MemoryRecord } from "#memory/record.ts";
import type { PrecisionData } from "./data.ts";

/** What the questions came to. Means as the data's own authors make them: pinned facts apart, empty against empty not counted. */
export interface PrecisionMeasure {
  readonly precision: number;
  readonly recall: number;
  /** Facts that a question is given, as a mean. */
  readonly given: number;
  /** Facts that took the place of another one though nobody had said so. */
  readonly wronglyReplaced: number;
  /** Facts that were given and must not be, over all questions. */
  readonly leaks: { readonly replaced: number; readonly otherTask: number; readonly otherPerson: number };
}

/** What answers a question: the facts that a task, or none, is given, best first. */
export type Answering = (
  who: { readonly owner: string },
  asked: { readonly query: string; readonly task?: string },
) => Promise<readonly MemoryRecord[]>;

/** Takes the beliefs in through the one door, with the texts of the published rows (name, aliases, content, why), and asks. */
export async function measurePrecision(
  facts: FactStore,
  data: PrecisionData,
  answer: Answering,
): Promise<PrecisionMeasure> {
  const beliefs = data["beliefs.seed"].map((belief) => ({ ...belief, content: publishedText(belief) }));
  const recordIds = new Map<string, string>();
  let wronglyReplaced = 0;
  for (const belief of inOrder(beliefs)) {
    const { id, replaced } = await keep(facts, belief, beliefs, recordIds);
    recordIds.set(belief._id, id);
    wronglyReplaced += replaced;
  }
  const leaks = { replaced: 0, otherTask: 0, otherPerson: 0 };
  const byRecord = new Map(beliefs.map((belief) => [recordIds.get(belief._id) ?? "", belief]));
  const [precisions, recalls, counts]: [number[], number[], number[]] = [[], [], []];
  for (const { query, scope, userId, budget, expect } of data["retrieval.cases"]) {
    const limit = budget?.maxBeliefs ?? MAX_BELIEFS;
    const asked = limit === 0 || query.trim() === "" ? [] : scope;
    const owner = userId ?? "test-user";
    const lists = await Promise.all(asked.map(async (task) => answer({ owner }, { query, task })));
    const given = lists.flat().flatMap(({ id }) => byRecord.get(id) ?? []);
    for (const belief of given) countLeak(belief, { owner, scope }, leaks);
    const isPinned = ({ pinned, scope: own }: Belief): boolean =>
      pinned && own.some((one) => scope.includes(one));
    const relevant = new Set(
      given
        .filter((belief) => !isPinned(belief))
        .slice(0, limit)
        .map(({ _id }) => _id),
    );
    const { mustInclude = [], shouldOnlyInclude } = expect.relevantBeliefs ?? {};
    const pinned = new Set(beliefs.filter((belief) => belief.pinned).map(({ _id }) => _id));
    const wanted = new Set(shouldOnlyInclude ?? mustInclude.filter((id) => !pinned.has(id)));
    const hits = [...wanted].filter((id) => relevant.has(id)).length;
    if (relevant.size > 0) precisions.push(hits / relevant.size);
    else if (wanted.size > 0) precisions.push(0);
    if (wanted.size > 0) recalls.push(hits / wanted.size);
    counts.push(relevant.size);
  }
  const mean = (all: readonly number[]): number => all.reduce((sum, one) => sum + one, 0) / all.length;
  return { precision: mean(precisions), recall: mean(recalls), given: mean(counts), wronglyReplaced, leaks };
}

/** The most that the data's own runner asks for. */
const MAX_BELIEFS = 20;

function publishedText({ canonical_name, aliases, content, why_it_matters }: Belief): string {
  return [canonical_name, ...aliases, content, why_it_matters].join(" ");
}

type Belief = PrecisionData["beliefs.seed"][number];

const UNIVERSAL = "user:universal";

/** What was replaced comes before what replaced it. */
function inOrder(beliefs: readonly Belief[]): Belief[] {
  const byId = new Map(beliefs.map((belief) => [belief._id, belief]));
  const depth = ({ superseded_by }: Belief): number => {
    const by = superseded_by === null ? undefined : byId.get(superseded_by);
    return by === undefined ? 0 : 1 + depth(by);
  };
  return beliefs.toSorted((a, b) => depth(b) - depth(a));
}

/** A belief that replaced another one is a correction of that; every other one is new. */
async function keep(
  facts: FactStore,
  belief: Belief,
  beliefs: readonly Belief[],
  recordIds: ReadonlyMap<string, string>,
): Promise<{ id: string; replaced: number }> {
  const who = { owner: belief.user_id };
  const old = beliefs.find(({ superseded_by }) => superseded_by === belief._id);
  const task = taskOf(belief.scope);
  const place = task === undefined ? ({ domain: "user_profile" } as const) : { task };
  const outcome =
    old === undefined
      ? await facts.remember(who, { text: belief.content, saidBy: "owner", source: "command", ...place })
      : await facts.edit(who, recordIds.get(old._id) ?? "", { text: belief.content });
  if (!("record" in outcome)) throw new Error(`${belief._id} was not kept: ${outcome.kind}`);
  const superseded = "superseded" in outcome ? outcome.superseded.length : 0;
  return { id: outcome.record.id, replaced: superseded - (old === undefined ? 0 : 1) };
}

function taskOf(scope: readonly string[]): string | undefined {
  return scope.find((one) => one !== UNIVERSAL);
}

function countLeak(
  belief: Belief,
  asked: { readonly owner: string; readonly scope: readonly string[] },
  leaks: { replaced: number; otherTask: number; otherPerson: number },
): void {
  if (belief.user_id !== asked.owner) leaks.otherPerson += 1;
  if (belief.superseded_by !== null) leaks.replaced += 1;
  const task = taskOf(belief.scope);
  if (task !== undefined && !asked.scope.includes(task)) leaks.otherTask += 1;
}
