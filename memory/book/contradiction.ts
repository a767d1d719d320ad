/** Decides what a later statement does to an earlier one of the same group: take its place, or stand beside it. */
import { termsOf, wordsOf } from "#src/kernel/words.ts";
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

/** Whether `one` says all that `other` says of the same thing, and neither denies it alone. */
export function restates(one: Statement, other: Statement): boolean {
  return one.group === other.group && one.isDenied === other.isDenied && says(one.value, other.value);
}

/** Earlier facts about the same as a later one. */
export interface Rivals<T> {
  /** Those whose place it takes. */
  readonly replaced: readonly T[];
  /** Those that say otherwise, whether it takes their place or not. */
  readonly disagreeing: readonly T[];
  /** Those that say the same in other words. */
  readonly same: readonly T[];
}

/** What the fact `text` does to `earlier` ones. A correction that may be of several things takes the place of none. */
export function rivalsAmong<T extends { readonly text: string }>(
  text: string,
  earlier: readonly T[],
): Rivals<T> {
  const later = statementOf(text);
  if (later === null) return { replaced: [], disagreeing: [], same: [] };
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
    same: stated
      .filter(
        ({ states, item }) =>
          saysTheSame(later, states) && (saysItAll(later) || hasSameTerms(text, item.text)),
      )
      .map(({ item }) => item),
  };
}

function saysTheSame(one: Statement, other: Statement): boolean {
  return restates(one, other) && restates(other, one) && one.isLimited === other.isLimited;
}

/** Of some forms the group tells what they are about and not what they say: "sign as Rae". */
function saysItAll({ group, value }: Statement): boolean {
  return value !== "" || /^(?:denial|opinion):/u.test(group);
}

function hasSameTerms(one: string, other: string): boolean {
  const terms = (text: string): string =>
    [...new Set(termsOf(text))]
      .filter((term) => term !== "user")
      .sort()
      .join(" ");
  return terms(one) === terms(other);
}

function certain(later: Statement, earlier: Statement): Relation {
  return later.isLimited || earlier.isLimited || earlier.hasMore ? "beside" : "replaces";
}

/** Whether `value` says all that `part` says. */
function says(value: string, part: string): boolean {
  const words = new Set(wordsOf(value));
  return wordsOf(part)
    .filter((word) => !FILLERS.has(word))
    .every((word) => words.has(word));
}

const FILLERS = new Set(["a", "an", "the", "any", "anymore", "more", "now", "longer", "still", "mehr", "了"]);
