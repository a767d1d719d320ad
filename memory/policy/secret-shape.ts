/** Whether a run of characters looks made by a machine or chosen as a secret, rather than written as a word. */

const MIN_ENTROPY_BITS = 3;
const LONG = 16;

// A recovery key of digits. Dates and telephone numbers have shorter groups or fewer.
const DIGIT_GROUPS = /^\d{5,6}(?:-\d{5,6}){3,}$/u;

/**
 * Whether `raw` looks like a secret: at least `minLength` characters without the punctuation around it, and letters mixed with digits,
 * or capitals inside, or symbols, in an order that is not that of a word, date, version, path or address. Long runs
 * also have to vary (at least 3 bits a character).
 */
export function looksLikeSecret(raw: string, minLength: number): boolean {
  const value = raw.replace(/^["'“”‘’`«(]+|["'“”‘’`»),;:!?.]+$/gu, "");
  if (DIGIT_GROUPS.test(value)) return value.length >= minLength;
  if (value.length < minLength || isOrdinary(value)) return false;
  if (value.length >= LONG && entropyOf(value) < MIN_ENTROPY_BITS) return false;
  return isMixed(value);
}

function isMixed(value: string): boolean {
  const hasDigit = /\d/u.test(value);
  const hasLetter = /\p{L}/u.test(value);
  const hasInnerCapital = /\p{Ll}\p{Lu}/u.test(value) && /\p{Lu}.*\p{Ll}.*\p{Lu}/u.test(value);
  const hasSymbol = /[!@#$%^&*+=~|\\?<>]/u.test(value);
  if (hasLetter && hasDigit) return true;
  if (value.length >= LONG && /^[A-Za-z0-9+/_=-]+$/u.test(value))
    return hasInnerCapital || /^[a-f0-9]+$/iu.test(value);
  return hasSymbol && (hasLetter || hasDigit);
}

const ORDINARY: readonly RegExp[] = [
  /^\d{1,4}([-./]\d{1,4}){1,3}$/u, // a date, a version of numbers, an address of numbers
  /^v?\d+(\.\d+)+[\w.-]*$/u, // a version
  /^\d+(?:st|nd|rd|th|[kmgt]?b|[mck]?m|kg|px|ms|s|h|x|%)$/iu, // a number with a unit
  /^(?:https?:\/\/|www\.|\/|~\/|\.{1,2}\/|[A-Z]:\\)\S*$/iu, // an address or a path
  /^[\w.-]+@[\w-]+(?:\.[\w-]+)+$/u, // a mail address
  /^[A-Z]{2,6}-\d{1,4}$/u, // a ticket or a standard
  /^\p{Lu}?\p{Ll}+(?:-\p{L}+)+$/u, // words with hyphens
  /^(?:[a-z]+_)+[a-z]+$/u, // words with underscores
  /^\p{L}+(?:['’]\p{L}+)?$/u, // a word
  /^[\p{Ll}\p{Lu}]+\(\)$/u, // a function
];

function isOrdinary(value: string): boolean {
  return (
    ORDINARY.some((pattern) => pattern.test(value)) && !(value.length >= LONG && /^[A-Za-z]+$/u.test(value))
  );
}

/** Shannon entropy in bits a character. */
function entropyOf(value: string): number {
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length);
  return bits;
}
