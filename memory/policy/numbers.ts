/** Numbers that prove themselves by a check digit, through the validator library: payment cards, IBANs, national ids. */
import ibanModule from "validator/lib/isIBAN.js";
import identityModule from "validator/lib/isIdentityCard.js";
import luhnModule from "validator/lib/isLuhnNumber.js";
import taxModule from "validator/lib/isTaxID.js";
import type { Finding } from "./verdict.ts";

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
  const cards = [...text.matchAll(CARD)]
    .filter(({ 0: found, index }) => isCardNumber(found, CARD_WORD.test(before(index))))
    .map(({ 0: found, index }): Finding => ({
      rule: "card_number",
      start: index,
      end: index + found.length,
    }));
  const identities = [...text.matchAll(IDENTITY)]
    .filter(({ 0: found, index }) => isIdentityNumber(found, IDENTITY_WORD.test(before(index))))
    .map(({ 0: found, index }): Finding => ({
      rule: "national_id",
      start: index,
      end: index + found.length,
    }));
  return [...cards, ...findIbans(text), ...identities];
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
