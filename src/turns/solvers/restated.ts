/** Which statements still hold: what is said later about the same thing takes the place of what was said before. */
import { termsOf } from "#src/kernel/words.ts";
import { relationOf } from "#memory/book/contradiction.ts";
import { correctedIn, statementOf, type Statement } from "#memory/book/statement.ts";
import { sentencesOf } from "./question.ts";

/** Longest sentence that is compared with others, in UTF-16 code units; longer ones are about too much. */
const MAX_COMPARED = 240;
/** Newest corrections that are looked at. */
const MAX_CORRECTIONS = 50;

/** Something that was said or kept, and when. */
export interface DatedStatement {
  readonly text: string;
  readonly at: string;
  /** What the assistant noted, or an import brought, takes the place of nothing that the user said. */
  readonly isUsersWord: boolean;
}

/** Words by which a statement is found, and the statement that then answers. */
export interface Candidate<T extends DatedStatement> {
  readonly words: string;
  readonly statement: T;
  /** What its sentences state. Of one that is found by words which it has replaced, there are none. */
  readonly states: readonly Statement[];
}

interface Sentence<T> {
  readonly text: string;
  readonly of: T;
  readonly states: Statement | null;
}

/**
 * Candidates for `statements` (among equal times the first is the newest), newest first. A sentence that was restated is
 * still found by its own words, and leads to the statement that took its place.
 */
export function candidatesOf<T extends DatedStatement>(statements: readonly T[]): Candidate<T>[] {
  const sorted = statements
    .toSorted((a, b) => compareInstants(b.at, a.at))
    .map((of) => ({ of, sentences: sentencesOf(of.text).map((text) => sentence(text, of)) }));
  const newest = new Map<string, Sentence<T>[]>();
  const corrected = correctedBy(sorted.flatMap(({ sentences }) => sentences.toReversed()));
  return sorted.flatMap(({ of, sentences }) => split(of, sentences, { newest, corrected }));
}

function sentence<T>(text: string, of: T): Sentence<T> {
  return { text, of, states: text.length > MAX_COMPARED ? null : statementOf(text) };
}

interface Newer<T> {
  /** The user's newer sentences, by what they are about. */
  readonly newest: Map<string, Sentence<T>[]>;
  readonly corrected: ReadonlyMap<Sentence<T>, Sentence<T>>;
}

/** The sentences of a statement that stand, and those whose place a newer one has taken. */
function split<T extends DatedStatement>(
  of: T,
  sentences: readonly Sentence<T>[],
  { newest, corrected }: Newer<T>,
): Candidate<T>[] {
  const standing: Sentence<T>[] = [];
  const restated: Candidate<T>[] = [];
  for (const one of sentences.toReversed()) {
    const { states } = one;
    const sameGroup = states === null ? [] : (newest.get(states.group) ?? []);
    const newer = sameGroup.find((later) => replaces(later.states, states)) ?? corrected.get(one);
    if (newer !== undefined)
      restated.push({ words: one.text, statement: { ...newer.of, text: newer.text }, states: [] });
    else {
      standing.unshift(one);
      if (states !== null && of.isUsersWord) newest.set(states.group, [...sameGroup, one]);
    }
  }
  if (standing.length === 0) return restated;
  const words = restated.length === 0 ? of.text : standing.map(({ text }) => text).join(" ");
  const states = standing.flatMap((one) => one.states ?? []);
  return [{ words, statement: { ...of, text: words }, states }, ...restated];
}

function replaces(later: Statement | null, earlier: Statement | null): boolean {
  return later !== null && earlier !== null && relationOf(later, earlier) === "replaces";
}

/**
 * What "it is Porto, not Lisbon" corrects: the one earlier sentence of the user that says Lisbon. Where several do, it
 * cannot be told which one is meant, and all stand.
 */
function correctedBy<T extends DatedStatement>(
  newestFirst: readonly Sentence<T>[],
): ReadonlyMap<Sentence<T>, Sentence<T>> {
  const own = newestFirst.filter(({ of }) => of.isUsersWord);
  const found = new Map<Sentence<T>, Sentence<T>>();
  const corrections = own.filter(
    ({ text }) => text.length <= MAX_COMPARED && correctedIn(text) !== undefined,
  );
  for (const correction of corrections.slice(0, MAX_CORRECTIONS)) {
    const wrong = termsOf(correctedIn(correction.text) ?? "");
    const earlier = own.slice(own.indexOf(correction) + 1).filter(({ text }) => hasAll(text, wrong));
    const [only] = earlier;
    if (only !== undefined && earlier.length === 1 && !found.has(only)) found.set(only, correction);
  }
  return found;
}

function hasAll(text: string, terms: readonly string[]): boolean {
  const has = new Set(termsOf(text));
  return terms.length > 0 && terms.every((term) => has.has(term));
}

function compareInstants(a: string, b: string): number {
  return Date.parse(a) - Date.parse(b);
}
