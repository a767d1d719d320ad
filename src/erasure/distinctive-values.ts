/** Values in a fact that stand for it by themselves: addresses, e-mails, numbers and codes. */
import { comparable, containsPhrase } from "./phrase.ts";

/** A value, and how it is looked for. */
export interface Value {
  /** Its letters and digits, in comparable form without spaces. */
  readonly core: string;
  /** In comparable form with its spaces. */
  readonly phrase: string;
}

const EMAIL = /[\p{L}\p{N}._%+-]+@[\p{L}\p{N}-]+(?:\.[\p{L}\p{N}-]+)+/gu;
// A house number before or behind its street, whose words begin with capitals.
const ADDRESS =
  /(?<!\S)\d{1,5}\p{L}?\s+(?:\p{Lu}[\p{L}.'’-]+\s*){1,4}|(?:\p{Lu}[\p{L}.'’-]+\s+){1,4}\d{1,5}\p{L}?(?![\p{L}\p{N}])/gu;
const TOKEN = /[^\s,;!?"“”«»()[\]{}<>]+/gu;
// Digits that people group with spaces, dashes or slashes: telephone, card and account numbers.
const GROUPED = /\+?\d(?:[\s\-/.()]{0,2}\d){5,}/gu;

const LEAST_CHARACTERS = 4;
/** Shorter ones turn up inside other numbers. */
const LEAST_INSIDE_OTHERS = 6;

const YEAR = /^(?:19|20)\d\d$/u;
const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/gu;

/** The distinctive values of `fact`. A year is none: too much happens in it. */
export function valuesOf(fact: string): readonly Value[] {
  const text = fact.normalize("NFKC");
  const found = [
    ...matches(text, EMAIL),
    ...matches(text, ADDRESS).filter(hasNoYear),
    ...matches(text, GROUPED),
    ...matches(text, TOKEN).filter((token) => /\p{N}/u.test(token)),
  ];
  const values = found.map(valueOf).filter(({ core }) => core.length >= LEAST_CHARACTERS && !YEAR.test(core));
  return [...new Map(values.map((value) => [value.core, value])).values()];
}

/** Whether `text` has one of the values, also when it groups the characters otherwise. Instants of ours are no text. */
export function containsValue(text: string, values: readonly Value[]): boolean {
  if (values.length === 0) return false;
  const normal = comparable(text.replaceAll(INSTANT, " "));
  const squeezed = normal.replaceAll(" ", "");
  return values.some(
    ({ core, phrase }) =>
      containsPhrase(normal, phrase) || (core.length >= LEAST_INSIDE_OTHERS && squeezed.includes(core)),
  );
}

function valueOf(found: string): Value {
  const phrase = comparable(found);
  return { phrase, core: phrase.replaceAll(" ", "") };
}

/** "In June 2019" looks like an address and is none. */
function hasNoYear(found: string): boolean {
  return !found.split(/\s+/u).some((word) => YEAR.test(word));
}

function matches(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([found]) => found);
}
