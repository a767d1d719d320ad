/** The statement that answers a question after something that a person has one of, in whatever words it was said. */
import { askedGroupOf } from "#memory/book/asked-attribute.ts";
import { mayDisagree } from "#memory/book/contradiction.ts";
import type { Candidate, DatedStatement } from "./restated.ts";

/** Most statements that are told beside an answer. */
const MAX_BESIDES = 2;

/**
 * The newest of `candidates` (newest first) that states what `question` asks for; where all only deny it, the newest of
 * those. The user's own word comes first.
 */
export function answerTo<T extends DatedStatement>(
  question: string,
  candidates: readonly Candidate<T>[],
): Candidate<T> | undefined {
  const group = askedGroupOf(question);
  if (group === undefined) return undefined;
  const standing = candidates.filter(({ states }) => states.some((one) => one.group === group));
  const saying = standing.filter(({ states }) => states.some((one) => one.group === group && !one.isDenied));
  const isOwn = ({ statement }: Candidate<T>): boolean => statement.isUsersWord;
  return saying.find(isOwn) ?? standing.find(isOwn) ?? saying[0] ?? standing[0];
}

/** Statements that stand and may say otherwise about the same as `best`. */
export function besidesOf<T extends DatedStatement>(
  best: Candidate<T>,
  candidates: readonly Candidate<T>[],
): T[] {
  return candidates
    .filter((other) => other !== best && other.statement.text !== best.statement.text)
    .filter((other) => disagrees(other, best))
    .slice(0, MAX_BESIDES)
    .map(({ statement }) => statement);
}

function disagrees<T extends DatedStatement>(one: Candidate<T>, other: Candidate<T>): boolean {
  return one.states.some((a) => other.states.some((b) => mayDisagree(a, b)));
}
