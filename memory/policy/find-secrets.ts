/** Finds secrets in a text: by the scanner of known services, by the table, and, through the validator library, by check digits. */
import ibanModule from "validator/lib/isIBAN.js";
import identityModule from "validator/lib/isIdentityCard.js";
import luhnModule from "validator/lib/isLuhnNumber.js";
import taxModule from "validator/lib/isTaxID.js";
import { SECRET_RULES, type SecretRule } from "./secret-rules.ts";
import { isMasked } from "./secret-shape.ts";
import type { SecretScanner } from "./secret-scanner.ts";
import type { Finding, PolicyRule } from "./verdict.ts";

/**
 * Findings in the order of their places, in the text as it stands and then in its compatibility form, where full-width digits
 * and hidden characters hide nothing. What only that form shows covers all of `text`, as its places are those of another text.
 */
export async function findSecrets(text: string, scan: SecretScanner): Promise<Finding[]> {
  const shown = await findShown(text, scan);
  if (shown.length > 0) return shown;
  const rule = await findDisguised(text, scan);
  return rule === undefined ? [] : [{ rule, start: 0, end: text.length }];
}

/** The rule of what only the compatibility form of `text` shows. */
export async function findDisguised(text: string, scan: SecretScanner): Promise<PolicyRule | undefined> {
  const compatible = compatibleForm(text);
  return compatible === text ? undefined : (await findShown(compatible, scan))[0]?.rule;
}

/** Findings in the text as it stands, in the order of their places. */
export async function findShown(text: string, scan: SecretScanner): Promise<Finding[]> {
  const scanned = (await scan(text)).map(({ start, end }): Finding => ({ rule: "secret_key", start, end }));
  const findings = [
    ...scanned,
    ...SECRET_RULES.flatMap((rule) => findByRule(text, rule)),
    ...findNumbers(text),
  ];
  return findings.sort((a, b) => a.start - b.start || b.end - a.end);
}

/** What one row of the table finds. */
export function findByRule(text: string, { rule, pattern, lengthOf }: SecretRule): Finding[] {
  return [...text.matchAll(pattern)].flatMap((match): Finding[] => {
    const { groups = {} } = match.indices ?? {};
    const [start = 0, end = 0] =
      Object.values(groups).find((span) => span !== undefined) ?? match.indices?.[0] ?? [];
    const value = text.slice(start, end);
    const length = isMasked(value) ? 0 : (lengthOf?.(value, text.slice(match.index, start)) ?? value.length);
    return length === 0 ? [] : [{ rule, start, end: start + length }];
  });
}

/** The text as a program may read it: compatibility forms undone, digits of any script as ASCII, hidden characters gone. */
function compatibleForm(text: string): string {
  return text
    .normalize("NFKC")
    .replaceAll(/\p{Default_Ignorable_Code_Point}/gu, "")
    .replaceAll(/(?![0-9])\p{Nd}/gu, (digit) => String(digitValue(digit)));
}

/** What a decimal digit stands for: each script has its ten in a row, from zero. */
function digitValue(digit: string): number {
  const code = digit.codePointAt(0) ?? 0;
  let value = 0;
  while (value < 9 && /\p{Nd}/u.test(String.fromCodePoint(code - value - 1))) value += 1;
  return value;
}

/** Rules that say more exactly what the scanner of known services finds too. */
const EXACT: readonly PolicyRule[] = ["private_key", "jwt", "url_credentials", "iban", "card_number"];

/** The rule of the first finding, or of an exact one that begins inside it. */
export function namedRule(findings: readonly Finding[]): PolicyRule {
  const [first] = findings;
  const exact = findings.find(({ rule, start }) => EXACT.includes(rule) && start < (first?.end ?? 0));
  return exact?.rule ?? first?.rule ?? "credential";
}

/** The text with the name of its rule in the place of each value. */
export function maskFindings(text: string, findings: readonly Finding[]): string {
  let masked = "";
  let at = 0;
  for (const { start, end, rule } of findings) {
    if (end <= at) continue;
    if (start >= at) masked += `${text.slice(at, start)}[${rule.replaceAll("_", " ")}]`;
    at = end;
  }
  return masked + text.slice(at);
}

/** Keys and tokens of services are long; what has no such run needs no scanner, which takes half a second to load. */
const LONG_RUN = /\S{12}/u;

/** `text` with the name of its rule in the place of each secret; a scanner that cannot work leaves the other rules. */
export async function maskSecrets(text: string, scan: SecretScanner): Promise<string> {
  const scanned: SecretScanner = async (wanted) =>
    LONG_RUN.test(wanted) ? scan(wanted).catch(() => []) : [];
  return maskFindings(text, await findSecrets(text, scanned));
}

/** Loaders differ in what a CommonJS default is: the function, or a module that holds it. */
function defaultOf<F>(module: { readonly default: F }): F {
  const loaded: unknown = module;
  return typeof loaded === "function" ? (loaded as F) : module.default;
}

const hasIbanCheck = defaultOf(ibanModule);
const hasIdentityCheck = defaultOf(identityModule);
const hasLuhnCheck = defaultOf(luhnModule);
const hasTaxCheck = defaultOf(taxModule);

// 12 to 19 digits, perhaps in groups, that are no part of a longer number, a word or a decimal; with dots, strokes or
// points only in the groups that are printed on cards.
const CARD =
  /(?<![\p{L}\d.,+-])(?:\d(?:(?:[^\S\n]|[\p{Pd}_]){0,3}\d){11,18}|\d{4}([./·•|])\d{4}\1\d{4}\1\d{4}|\d{4}([./·•|])\d{6}\2\d{5})(?![\d\p{L}]|[-.,]\d)/gu;
const CARD_WORD =
  /\b(?:card|cc|visa|mastercard|amex|maestro|kreditkarte|karte|carte|tarjeta)\b[^\n]{0,40}$/iu;
/** First digits and lengths of Visa, Mastercard, American Express, Diners Club, Discover, JCB, UnionPay, Maestro. */
const ISSUED =
  /^(?:4(?:\d{12}|\d{15}|\d{18})|(?:5[1-5]\d{2}|222[1-9]|22[3-9]\d|2[3-6]\d{2}|27[01]\d|2720)\d{12}|3[47]\d{13}|3(?:0[0-5]|[689]\d)\d{11}|6(?:011|4[4-9]\d|5\d{2})\d{12}|35\d{14}|(?:1800|2131)\d{11}|62\d{14,17}|(?:5018|5020|5038|6304|6759|676[1-3])\d{8,15})$/u;
const IBAN = /(?<![\p{L}\d])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}/giu;
const IDENTITY =
  /(?<![\p{L}\d-])(?:[A-Z]?\d[\dA-Z]{7,17}|\d{6}[-+A]\d{3}[0-9A-Z]|\d{4} \d{4} \d{4}|\d{6} \d{5}|\d{3}\.\d{3}\.\d{3}-\d{2}|[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z])(?![\p{L}\d-])/giu;
const IDENTITY_WORD =
  /\b(?:national id(?:entity)?|identity (?:card|number)|id (?:card|number)|personal (?:id|number)|citizen id|carte d.identit[ée])\b[^\n]{0,40}$/iu;
/** Whose identity and tax numbers are hardly ever anything else: letters, dates or points beside the check digit. */
const TELLING = ["ES", "FI", "zh-CN", "zh-TW"] as const;
const TELLING_TAX = ["pt-BR", "it-IT", "sv-SE"] as const;
/** Whose are plain digits, so that a word has to say what they are. */
const PLAIN = ["IN", "NO", "PL", "TH", "he-IL"] as const;

/** Findings of numbers that prove themselves. */
export function findNumbers(text: string): Finding[] {
  const before = (index: number): string => text.slice(Math.max(0, index - 60), index);
  const found = (rule: PolicyRule, pattern: RegExp, isOne: (number: string, before: string) => boolean) =>
    [...text.matchAll(pattern)]
      .filter(({ 0: number, index }) => isOne(number, before(index)))
      .map(({ 0: number, index }): Finding => ({ rule, start: index, end: index + number.length }));
  return [
    ...found("card_number", CARD, (number, said) => isCardNumber(number, CARD_WORD.test(said))),
    ...findIbans(text),
    ...found("national_id", IDENTITY, (number, said) => isIdentityNumber(number, IDENTITY_WORD.test(said))),
  ];
}

/**
 * Whether the digits of `text` are a payment card number: Luhn's check digit, and the first digits and length of a known
 * card, unless a word says that it is a card (`isNamed`).
 */
export function isCardNumber(text: string, isNamed: boolean): boolean {
  const digits = text.replaceAll(/\D/gu, "");
  return (isNamed || ISSUED.test(digits)) && !/^(\d)\1+$/u.test(digits) && hasLuhnCheck(digits);
}

/** Whether `text`, spaces aside, is an IBAN of a country's format with a right check sum. */
export function isIban(text: string): boolean {
  return hasIbanCheck(text.replaceAll(/[\s-]/gu, "").toUpperCase());
}

function isIdentityNumber(text: string, isNamed: boolean): boolean {
  const compact = text.replaceAll(/[\s.]/gu, "");
  const locales = isNamed ? [...TELLING, ...PLAIN] : TELLING;
  const isTax = /\D/u.test(text) && TELLING_TAX.some((locale) => hasTaxCheck(text.toUpperCase(), locale));
  return isTax || locales.some((locale) => hasIdentityCheck(compact, locale));
}

/** A match may run on into the words behind it, so it is tried at every length, longest first. */
function findIbans(text: string): Finding[] {
  return [...text.matchAll(IBAN)].flatMap(({ 0: found, index }): Finding[] => {
    for (let length = found.length; length >= 15; length -= 1) {
      const isWhole = !/[A-Z0-9]/iu.test(text[index + length] ?? "");
      if (isWhole && isIban(found.slice(0, length)))
        return [{ rule: "iban", start: index, end: index + length }];
    }
    return [];
  });
}
