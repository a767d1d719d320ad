/** Sensitive numbers by their own check digits: payment cards, bank accounts, national identity numbers. */
import { findAccounts } from "./account-numbers.ts";
import { isCardNumber, isIban, isIdentityNumber } from "./checksums.ts";
import type { Finding, PolicyRule } from "./verdict.ts";

// 12 to 19 digits, perhaps in groups, that are no part of a longer number, a word or a decimal.
const CARD = /(?<![\p{L}\d.,+-])\d(?:(?:[^\S\n]|[\p{Pd}_]){0,3}\d){11,18}(?![\d\p{L}]|[-.,]\d)/gu;
// With dots, strokes or points only in the groups that are printed on cards.
const CARD_GROUPS =
  /(?<![\p{L}\d.,+-])(?:\d{4}([./·•|])\d{4}\1\d{4}\1\d{4}|\d{4}([./·•|])\d{6}\2\d{5})(?![\d\p{L}]|[-.,]\d)/gu;
const IBAN = /(?<![\p{L}\d])[A-Z]{2}\d{2}(?:[ -]?[A-Z0-9]){11,30}/giu;
const ID_TOKEN =
  /(?<![\p{L}\d-])(?:[A-Z]?\d[\dA-Z]{7,17}|\d{6}[-+A]\d{3}[0-9A-Z]|\d{4} \d{4} \d{4}|\d{6} \d{5})(?![\p{L}\d-])/giu;
const ID_WORD =
  /\b(?:aadhaar|aadhar|pesel|national id(?:entity)?|identity (?:card|number)|id (?:card|number)|personal (?:id|number)|citizen id|f[øo]dselsnummer|personnummer|teudat zehut|personalausweis\w*|ausweisnummer|carte d.identit[ée]|dni|nie)\b/iu;
// Areas 000, 666 and 900 to 999 were never given out.
const SSN = /(?<![\d-])(?!000|666|9)\d{3}([- ])(?!00)\d{2}\1(?!0000)\d{4}(?![\d-])/gu;
const NAMED_SSN =
  /\b(?:ssn|social security(?: number| no\.?)?)\b[^\d\n]{0,20}(?!000|666)(\d{9}|\d{3}[- ]\d{2}[- ]\d{4})(?!\d)/giu;
const DOCUMENT =
  /\b(?:passport|reisepass|(?:personal)?ausweis(?:nummer)?|id card|passeport|pasaporte|driver'?s? licen[cs]e|driving licen[cs]e|f[üu]hrerschein)\b(?:\s*(?:number|no\.?|nr\.?|nummer|num[ée]ro|n°|#))?\s*(?:is|ist|est|es|:|=|#|,)?\s*([A-Z]{0,5}\d[A-Z0-9-]{5,13})(?![\p{L}\d])/giu;
const DOCUMENT_MIN_DIGITS = 5;

/** Findings of numbers that prove themselves, in order of their place in each kind. */
export function findNumbers(text: string): Finding[] {
  return [
    ...findCards(text),
    ...findIbans(text),
    ...matches(text, SSN, "national_id", () => true),
    ...matches(text, NAMED_SSN, "national_id", () => true),
    ...findIdentityNumbers(text),
    ...findAccounts(text),
    ...matches(
      text,
      DOCUMENT,
      "id_document",
      (found) => found.replaceAll(/\D/gu, "").length >= DOCUMENT_MIN_DIGITS,
    ),
  ];
}

function matches(
  text: string,
  pattern: RegExp,
  rule: PolicyRule,
  accepts: (found: string) => boolean,
): Finding[] {
  return [...text.matchAll(pattern)].filter(([found]) => accepts(found)).map((match) => spanOf(match, rule));
}

/** The span of the first group that stands at the end of the match, else of all of it. */
function spanOf(match: RegExpExecArray, rule: PolicyRule): Finding {
  const value = match[1] ?? "";
  const isValue = value.length > 1 && match[0].endsWith(value);
  const start = isValue ? match.index + match[0].length - value.length : match.index;
  return { rule, start, end: match.index + match[0].length };
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

const NAMED_WITHIN = 40;
const CARD_WORD = /\b(?:card|cc|visa|mastercard|amex|maestro|kreditkarte|karte|carte|tarjeta)\b/iu;

function findCards(text: string): Finding[] {
  return [...text.matchAll(CARD), ...text.matchAll(CARD_GROUPS)].flatMap(({ 0: found, index }): Finding[] => {
    const isNamed = CARD_WORD.test(text.slice(Math.max(0, index - NAMED_WITHIN), index));
    const isCard = isCardNumber(found.replaceAll(/\D/gu, ""), isNamed);
    return isCard ? [{ rule: "card_number", start: index, end: index + found.length }] : [];
  });
}

function findIdentityNumbers(text: string): Finding[] {
  return [...text.matchAll(ID_TOKEN)].flatMap(({ 0: found, index }): Finding[] => {
    const isNamed = ID_WORD.test(text.slice(Math.max(0, index - NAMED_WITHIN), index));
    return isIdentityNumber(found, isNamed)
      ? [{ rule: "national_id", start: index, end: index + found.length }]
      : [];
  });
}
