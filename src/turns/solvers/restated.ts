/** Which statements still hold: what is said later about the same thing takes the place of what was said before. */
import { conflictGroupOf } from "#memory/book/conflict-group.ts";
import { sentencesOf } from "./question.ts";

/** Longest sentence that is compared with others, in UTF-16 code units; longer ones are about too much. */
const MAX_COMPARED = 240;

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
}

/**
 * Candidates for `statements` (among equal times the first is the newest), newest first. A sentence that was restated is
 * still found by its own words, and leads to the statement that took its place.
 */
export function candidatesOf<T extends DatedStatement>(statements: readonly T[]): Candidate<T>[] {
  const newest = new Map<string, T>();
  return statements
    .toSorted((a, b) => compareInstants(b.at, a.at))
    .flatMap((statement) => {
      const { standing, restated } = split(statement, newest);
      const kept = standing === "" ? [] : [{ words: standing, statement: { ...statement, text: standing } }];
      return [...kept, ...restated];
    });
}

/** The sentences of a statement that stand, and those that a newer one, in `newest`, has replaced. */
function split<T extends DatedStatement>(statement: T, newest: Map<string, T>) {
  const standing: string[] = [];
  const restated: Candidate<T>[] = [];
  for (const sentence of sentencesOf(statement.text).toReversed()) {
    const group = sentence.length > MAX_COMPARED ? null : conflictGroupOf(sentence);
    const newer = group === null ? undefined : newest.get(group);
    if (newer !== undefined) restated.push({ words: sentence, statement: newer });
    else {
      standing.unshift(sentence);
      if (group !== null && statement.isUsersWord) newest.set(group, { ...statement, text: sentence });
    }
  }
  return restated.length === 0
    ? { standing: statement.text, restated }
    : { standing: standing.join(" "), restated };
}

function compareInstants(a: string, b: string): number {
  return Date.parse(a) - Date.parse(b);
}
