/** Numbers that only their name makes sensitive: bank accounts and the numbers of tax offices. */
import { isTaxNumber } from "./checksums.ts";
import type { Finding } from "./verdict.ts";

const NUMBER_WORD = "(?:\\s*(?:number|no\\.?|nr\\.?|num\\.?|nummer|num[ée]ro|n[°º]|#|id))?";
const VALUE = "(?:\\s+(?:is|was|ist|lautet|est|es|è)\\s+|\\s*[:=#]\\s*|\\s+)[\"'‘“(*]?";

const BANK_WORD = "(?:bank|checking|chequing|savings|giro|current|payroll|direct deposit|payee|beneficiary)";
const BANK = new RegExp(
  `(\\b(?:${BANK_WORD}\\s+(?:account|acct\\.?|a\\/c)|konto(?:nummer|nr\\.?)?|(?:compte|cuenta|conto|conta)\\s+(?:bancaire|bancaria|bancario|bancária|corrente|corriente))${NUMBER_WORD}${VALUE})([A-Z]{0,5}\\d(?:[ -]?\\d){6,17})(?![\\p{L}\\d]|[.,]\\d)`,
  "giu",
);
// "account number" alone may be that of a shop; with a word of banks beside it, it is not.
const ACCOUNT = new RegExp(
  `(\\b(?:account|acct\\.?|a\\/c)${NUMBER_WORD}${VALUE})([A-Z]{0,5}\\d(?:[ -]?\\d){6,17})(?![\\p{L}\\d]|[.,]\\d)`,
  "giu",
);
const NEAR_BANK =
  /\b(?:bank|sort code|routing|aba|bic|swift|blz|ifsc|neft|wire|direct deposit|iban|transfers?)\b/iu;
const NEAR = 80;

const TAX = new RegExp(
  `(\\b(?:(?:tax(?:payer)?|steuer)(?:[ -]?(?:id(?:entifi(?:cation|kations?))?|nummer|number))(?:\\s*(?:information|number|no\\.?|nr\\.?|nummer|#))?|tin|itin|ein|utr|nino|national insurance number|codice fiscale|partita iva|nif|cpf|num[ée]ro fiscal)${VALUE})([A-Z]{0,5}\\d[\\dA-Z]*(?:[-. /][\\dA-Z]+){0,5})`,
  "giu",
);
// Brazil's and Italy's have shapes of their own and prove themselves.
const TELLING =
  /()((?<![\p{L}\p{N}.-])(?:\d{3}\.\d{3}\.\d{3}-\d{2}|[A-Z]{6}\d{2}[A-Z]\d{2}[A-Z]\d{3}[A-Z])(?![\p{L}\p{N}-]))/giu;
// India's, behind its name: five letters of which the fourth says whose it is, four digits, a letter.
const PAN =
  /(\bPAN(?:\s+(?:card|number|no\.?|is|card number|number is))?\s*[:=]?\s*["'‘“]?)([A-Z]{3}[ABCFGHLJPT][A-Z]\d{4}[A-Z])(?![\p{L}\p{N}])/gu;

const LEAST_DIGITS = 7;
const digitsOf = (value: string): string => value.replaceAll(/\D/gu, "");

/** Findings of such numbers. */
export function findAccounts(text: string): Finding[] {
  const isNearBank = (start: number, end: number): boolean =>
    NEAR_BANK.test(text.slice(Math.max(0, start - NEAR), start)) ||
    NEAR_BANK.test(text.slice(end, end + NEAR));
  return [
    ...spans(text, BANK, "bank_account"),
    ...spans(text, ACCOUNT, "bank_account").filter(({ start, end }) => isNearBank(start, end)),
    ...spans(text, TAX, "national_id").filter(({ start, end }) => isTaxShaped(text.slice(start, end))),
    ...spans(text, TELLING, "national_id").filter(({ start, end }) => isTaxNumber(text.slice(start, end))),
    ...spans(text, PAN, "national_id"),
  ];
}

function isTaxShaped(value: string): boolean {
  return digitsOf(value).length >= LEAST_DIGITS && !/^\d{4}-\d{2}-\d{2}$/u.test(value);
}

function spans(text: string, pattern: RegExp, rule: Finding["rule"]): Finding[] {
  return [...text.matchAll(pattern)].map(({ 1: before = "", 2: value = "", index }) => {
    const start = index + before.length;
    return { rule, start, end: start + value.length };
  });
}
