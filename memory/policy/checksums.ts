/** Numbers that prove themselves by a check digit, through the validator library. */
import ibanModule from "validator/lib/isIBAN.js";
import identityModule from "validator/lib/isIdentityCard.js";
import luhnModule from "validator/lib/isLuhnNumber.js";
import taxModule from "validator/lib/isTaxID.js";

/** Loaders differ in what a CommonJS default is: the function, or a module that holds it. */
function defaultOf<F>(module: { readonly default: F }): F {
  const loaded: unknown = module;
  return typeof loaded === "function" ? (loaded as F) : module.default;
}

const hasIbanCheck = defaultOf(ibanModule);
const hasIdentityCheck = defaultOf(identityModule);
const hasLuhnCheck = defaultOf(luhnModule);
const hasTaxCheck = defaultOf(taxModule);

/** First digits of payment cards and how many digits those have. */
const CARDS: readonly RegExp[] = [
  /^4(?:\d{12}|\d{15}|\d{18})$/, // Visa
  /^(?:5[1-5]\d{2}|222[1-9]|22[3-9]\d|2[3-6]\d{2}|27[01]\d|2720)\d{12}$/, // Mastercard
  /^3[47]\d{13}$/, // American Express
  /^3(?:0[0-5]|[689]\d)\d{11}$/, // Diners Club
  /^6(?:011|4[4-9]\d|5\d{2})\d{12}$/, // Discover
  /^35\d{14}$|^(?:1800|2131)\d{11}$/, // JCB
  /^62\d{14,17}$/, // UnionPay
  /^(?:5018|5020|5038|6304|6759|676[1-3])\d{8,15}$/, // Maestro
];

/**
 * Whether `digits` is a payment card number: Luhn's check digit, and the first digits and length of a known card, unless
 * a word says that it is a card (`isNamed`).
 */
export function isCardNumber(digits: string, isNamed: boolean): boolean {
  const isShaped = isNamed || CARDS.some((card) => card.test(digits));
  return isShaped && !/^(\d)\1+$/.test(digits) && hasLuhnCheck(digits);
}

/** Whether `text` without spaces is an IBAN of a country's format with a right check sum. */
export function isIban(text: string): boolean {
  return hasIbanCheck(text.replaceAll(/[\s-]/gu, "").toUpperCase());
}

/** Countries whose identity numbers are hardly ever anything else: letters, dates and a check digit in them. */
const TELLING = ["ES", "FI", "zh-CN", "zh-TW"] as const;
/** Countries whose identity numbers are plain digits, so that a word has to say what they are. */
const PLAIN = ["IN", "NO", "PL", "TH", "he-IL"] as const;

/** Whether `text` is a national identity number that proves itself; with `isNamed` also one of plain digits. */
export function isIdentityNumber(text: string, isNamed: boolean): boolean {
  const compact = text.replaceAll(/[\s.]/gu, "");
  const locales = isNamed ? [...TELLING, ...PLAIN] : TELLING;
  return locales.some((locale) => hasIdentityCheck(compact, locale));
}

/** Whether `text` is a tax number of a country whose format no other number has (Brazil, Italy), with a right check digit. */
export function isTaxNumber(text: string): boolean {
  return ["pt-BR", "it-IT"].some((locale) => hasTaxCheck(text.toUpperCase(), locale));
}
