/** Whether a value looks made by a machine or chosen as a secret, rather than written as words. */
import { OF_PASSWORDS, OF_SENTENCES } from "./secret-words.ts";

/** Values made to be shown: digests, public keys, addresses of wallets and files, pictures, UUIDs, hosts. */
const PUBLIC: readonly RegExp[] = [
  /^arn:/iu,
  /^(?:sha|md|blake|crc|ripemd|xxh)\w{0,8}[-_.:]/iu,
  /^(?:AAAA[BCE][23]N|ssh-(?:rsa|dss|ed25519)$|ecdsa-sha2-)/u,
  /^0x[0-9a-f]+$/iu,
  /^(?:[13][1-9A-HJ-NP-Za-km-z]{25,34}|bc1[a-z0-9]{20,}|Qm[1-9A-HJ-NP-Za-km-z]{44}|baf[a-z2-7]{50,})$/u,
  /^(?:iVBORw0KGgo|\/9j\/|R0lGOD|UklGR|JVBERi0|PHN2Zy|PD94bWw|data:)/u,
  /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu,
  /^[\w-]+(?:\.[a-z]{2,})+(?:[:/]|$)/u,
];

const ORDINARY: readonly RegExp[] = [
  /^\d{1,4}(?:[-./]\d{1,4}){1,3}$/u, // a date, a version of numbers, an address of numbers
  /^v?\d+(?:\.\d+)+[\w.-]*$/u, // a version
  /^\d+(?:st|nd|rd|th|[kmgt]?b|[mck]?m|kg|px|ms|s|h|x|%)$/iu, // a number with a unit
  /^(?:https?:\/\/|www\.|\/|~\/|\.{1,2}\/|[A-Z]:\\)\S*$/iu, // an address or a path
  /^[\w.-]+@[\w-]+(?:\.[\w-]+)+$/u, // a mail address
  /^[A-Z]{2,6}-\d{1,4}$/u, // a ticket or a standard
  /^\p{Lu}?\p{Ll}+(?:-\p{L}+)+$|^(?:[a-z]+_)+[a-z]+$/u, // words with hyphens or underscores
  /^\p{L}+(?:['’]\p{L}+)?$|^\p{L}+\(\)$/u, // a word, a function
];

/** A recovery key of digits; dates and telephone numbers have shorter groups or fewer. */
const DIGIT_GROUPS = /^\d{5,6}(?:-\d{5,6}){3,}$/u;
const LONG_DIGIT_GROUPS = /^\d{6}(?:-\d{6}){5,}$/u;
const LONG = 16;
const LEAST_ENTROPY_BITS = 3;

/**
 * Whether `raw` looks like a secret: `least` characters or more without the punctuation around it, letters mixed with digits
 * or symbols (long runs also by capitals inside), and no word, date, version, path or address. Long runs have to vary.
 */
function looksLikeSecret(raw: string, least: number): boolean {
  const value = raw.replace(/^["'“”‘’`«(]+|["'“”‘’`»),;:!?.]+$/gu, "");
  if (value.length < least || isMasked(value)) return false;
  if (DIGIT_GROUPS.test(value)) return true;
  const isLong = value.length >= LONG;
  const isLetters = /^[A-Za-z]+$/u.test(value);
  if (!(isLong && isLetters) && ORDINARY.some((pattern) => pattern.test(value))) return false;
  if (isLong && entropyOf(value) < LEAST_ENTROPY_BITS) return false;
  const [hasLetter, hasDigit] = [/\p{L}/u.test(value), /\d/u.test(value)];
  if (hasLetter && hasDigit) return true;
  if (isLong && /^[A-Za-z0-9+/_=-]+$/u.test(value))
    return /\p{Lu}.*\p{Ll}.*\p{Lu}/u.test(value) || /^[a-f0-9]+$/iu.test(value);
  return /[!@#$%^&*+=~|\\?<>]/u.test(value) && (hasLetter || hasDigit);
}

/** What stands for a value that was taken out: `[password]`, `<secret>`, `****`, `…`, `$NAME`, `{{name}}`. */
export function isMasked(value: string): boolean {
  return /^["'“‘`]?(?:\[[^\]]*\]|<[^>]*>|[*•xX…·.]{3,}|\$\{?\w+\}?|\{\{.*\}\}|%\w+%)/u.test(value);
}

/** Whether `value` is of a kind that is made to be shown. */
function isPublic(value: string): boolean {
  return PUBLIC.some((pattern) => pattern.test(value));
}

// Who issued it, and perhaps for what: `npm_`, `sk_live_`, `dop_v1_`, `sk-ant-api03-`, `SG.`.
const ISSUER = /^(?:[A-Za-z]{1,12}\d{0,2}[a-z]{0,4}(?:[_-][A-Za-z]{1,8}\d{0,2}){0,3}|\d{8,10})[_.:-](?=\w)/u;

/** Whether nobody has to announce `value`: an issuer's prefix with 20 random characters, or 32 random ones. */
function isIssued(value: string): boolean {
  if (isPublic(value)) return false;
  if (LONG_DIGIT_GROUPS.test(value)) return true;
  const rest = value.slice(ISSUER.exec(value)?.[0].length ?? value.length);
  if (rest.length >= 20 && !isPublic(rest) && isRandom(rest)) return true;
  return value.length >= 32 && !/^[0-9a-f-]+$/iu.test(value) && isRandom(value) && !isPath(value);
}

/** Letters, capitals and digits change places this often, as a share, where a machine drew them; in words hardly ever. */
const LEAST_CHANGES = 0.35;
const LONGEST_PART = 12;

function isRandom(value: string): boolean {
  const longest = Math.max(...value.split(/[^A-Za-z0-9]/u).map((part) => part.length));
  const kinds = Array.from(value.replaceAll(/[^A-Za-z0-9]/gu, ""), (one) =>
    /\d/u.test(one) ? "digit" : /[A-Z]/u.test(one) ? "upper" : "lower",
  );
  const changes = kinds.filter((kind, index) => index > 0 && kind !== kinds[index - 1]).length;
  const isMixed = kinds.includes("digit") && kinds.some((kind) => kind !== "digit");
  return longest >= LONGEST_PART && isMixed && changes >= LEAST_CHANGES * value.length;
}

/** Base64 has strokes anywhere; in a path one part at least is a word, a file or a number. */
function isPath(value: string): boolean {
  const parts = value.split("/");
  const isName = (part: string): boolean => /^(?:[a-z_-]{3,}|[A-Z]?[a-z]{3,}|\d+|.*\..*)$/u.test(part);
  return parts.length > 1 && (value.length < 40 || parts.some(isName));
}

/** Shannon entropy in bits a character. */
function entropyOf(value: string): number {
  const counts = new Map<string, number>();
  for (const character of value) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / value.length) * Math.log2(count / value.length);
  return bits;
}

/** How much of a value is the secret, in code units, given what stands before it in the match; 0 is none of it. */
type LengthOf = (value: string, before: string) => number;

const allOr0 =
  (isSecret: (value: string) => boolean): LengthOf =>
  (value) =>
    isSecret(value) ? value.length : 0;

/** Looks like a secret of `least` characters or more. */
export const shaped = (least: number): LengthOf => allOr0((value) => looksLikeSecret(value, least));
/** The same, and is not made to be shown. */
export const machineMade = (least: number): LengthOf =>
  allOr0((value) => looksLikeSecret(value, least) && !isPublic(value));
/** Letters and digits both. */
export const mixed: LengthOf = allOr0((value) => /\d/u.test(value) && /\p{L}/u.test(value));
/** Has `least` digits or more and is no date. */
export const withDigits = (least: number): LengthOf =>
  allOr0(
    (value) =>
      value.replaceAll(/\D/gu, "").length >= least &&
      !/^(?:\d{4}[-./]\d{1,2}[-./]\d{1,2}|\d{1,2}[-./]\d{1,2}[-./]\d{2,4})$/u.test(value),
  );
/** A service issued it: nobody has to announce it. */
export const issued: LengthOf = (value) => {
  const bare = value.replace(/[.:]+$/u, "");
  return isIssued(bare) ? bare.length : 0;
};

/** How much of what follows a password's name is the password. */
export function passwordLength(rest: string, before: string): number {
  const quoted = /^["'“‘`«]([^"'”’`»]+)["'”’`»]/u.exec(rest);
  if (quoted !== null) return isMasked(quoted[1] ?? "") ? 0 : quoted[0].length;
  const clause = (/^[^.;。!?\n]*(?:[.;!?](?=\S)[^.;。!?\n]*)*/u.exec(rest)?.[0] ?? "").trimEnd();
  const [first = ""] = clause.split(/[\s,;。，、]/u, 1);
  if (first === "" || isMasked(first)) return 0;
  if (looksLikeSecret(first, 4)) return first.length;
  const told = clause.toLowerCase().split(/[\s,]+/u);
  const isSaidOfIt = told.length < 4 && OF_PASSWORDS.has(told[0] ?? "");
  if (isSaidOfIt || told.length > 8 || told.some((word) => OF_SENTENCES.has(word))) return 0;
  return told.length === 1 || told.length > 3 || /[:=：＝>→]\s*$/u.test(before) ? clause.length : 0;
}

/** Signs between letters and digits, or digits among letters, as no name or version has them. */
export function chosenLength(value: string): number {
  const isChosen = /\p{L}[!@#$%^&*+=~_.-]+\d|\d[!@#$%^&*]|\p{L}{3}\d{2,}\p{L}{2}|\p{L}{4}\d{2,}$/u.test(
    value,
  );
  return isChosen && looksLikeSecret(value, 6) ? value.length : 0;
}

/** At least four groups of one length, letters and digits mixed in a quarter of them; dates and words are otherwise. */
export function groupedLength(value: string, before: string): number {
  if (/fingerprint|fingerabdruck|empreinte|public|öffentlich/iu.test(before)) return 0;
  const groups = value.split(/[ -]/u);
  const isKey = (from: number): boolean => {
    const key = groups.slice(from);
    const isEven = key.every(({ length }, at) => length === key[0]?.length || at === key.length - 1);
    const mixed = key.filter((group) => /\d/u.test(group) && /\p{L}/u.test(group)).length;
    return key.length >= 4 && isEven && mixed >= key.length / 4;
  };
  return groups.some((_group, from) => isKey(from)) ? value.length : 0;
}

/** Each code has a digit in it, and none is a year or a date. */
export function codeListLength(value: string): number {
  const codes = value.split(/[ ,;/|\n]+/u);
  const isCode = (code: string): boolean => /\d/u.test(code) && !/^(?:19|20)\d\d(?:-|$)/u.test(code);
  return codes.join("").length >= 12 && codes.every(isCode) ? value.length : 0;
}

/** A wallet's phrase has 12 to 24 words, and next to none of them is in the plural. */
export function seedLength(value: string): number {
  const told = value.trim().split(/[ ,\n]+/u);
  const isSentence = told.some((word) => OF_SENTENCES.has(word.toLowerCase()));
  const isList = told.filter((word) => /[^siu]s$/u.test(word)).length > 1;
  return [12, 15, 18, 21, 24].some((count) => told.length >= count && told.length <= count + 2) &&
    !isSentence &&
    !isList
    ? value.length
    : 0;
}
