/** Decides what a later statement does to an earlier one of the same group: take its place, or stand beside it. */
import { wordsOf } from "#src/kernel/words.ts";
import { statementOf, type Statement } from "./statement.ts";

/** `beside`: they may exclude each other, which only their owner knows. `apart`: both can be true. */
export type Relation = "replaces" | "beside" | "apart";

/** What `later` does to `earlier`. */
export function relationOf(later: Statement, earlier: Statement): Relation {
  if (later.group !== earlier.group) return "apart";
  if (later.isDenied !== earlier.isDenied) {
    const [denial, other] = later.isDenied ? [later, earlier] : [earlier, later];
    return says(other.value, denial.value) ? certain(later, earlier) : "apart";
  }
  const isSame = says(later.value, earlier.value) && says(earlier.value, later.value);
  if (later.isDenied) return isSame ? "replaces" : "apart";
  if (isSame) return certain(later, earlier);
  if (later.isOneOfSeveral && !later.isCorrection) return "beside";
  return certain(later, earlier);
}

/** Whether two statements may exclude each other, and do not say the same. */
export function mayDisagree(one: Statement, other: Statement): boolean {
  if (relationOf(one, other) === "apart") return false;
  return one.isDenied !== other.isDenied || !says(one.value, other.value) || !says(other.value, one.value);
}

/** Earlier facts about the same as a later one. */
export interface Rivals<T> {
  /** Those whose place it takes. */
  readonly replaced: readonly T[];
  /** Those that say otherwise, whether it takes their place or not. */
  readonly disagreeing: readonly T[];
}

/** What the fact `text` does to `earlier` ones. A correction that may be of several things takes the place of none. */
export function rivalsAmong<T extends { readonly text: string }>(
  text: string,
  earlier: readonly T[],
): Rivals<T> {
  const later = statementOf(text);
  if (later === null) return { replaced: [], disagreeing: [] };
  const stated = earlier.flatMap((item) => {
    const states = statementOf(item.text);
    return states === null ? [] : [{ item, states }];
  });
  const replaced = stated.filter(({ states }) => relationOf(later, states) === "replaces");
  const isUnclear =
    later.isOneOfSeveral && replaced.filter(({ states }) => mayDisagree(later, states)).length > 1;
  return {
    replaced: isUnclear ? [] : replaced.map(({ item }) => item),
    disagreeing: stated.filter(({ states }) => mayDisagree(later, states)).map(({ item }) => item),
  };
}

function certain(later: Statement, earlier: Statement): Relation {
  return later.isLimited || earlier.isLimited ? "beside" : "replaces";
}

/** Whether `value` says all that `part` says. */
function says(value: string, part: string): boolean {
  const words = new Set(wordsOf(value));
  return wordsOf(part)
    .filter((word) => !FILLERS.has(word))
    .every((word) => words.has(word));
}

const FILLERS = new Set(["a", "an", "the", "any", "anymore", "more", "now", "longer", "still", "mehr", "了"]);
