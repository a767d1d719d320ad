/**
 * The public labelled sets of personal data, read from the folder that `LILY_DATA` names; which of their labels the gate has to
 * refuse, which it has to let pass, and which say too little to count.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { z } from "zod";
import { isCardNumber, isIban } from "#memory/policy/find-secrets.ts";
import type { PolicyRule } from "#memory/policy/verdict.ts";

/** A text and what its authors labelled in it. */
export interface LabelledText {
  readonly text: string;
  readonly spans: readonly { readonly label: string; readonly value: string }[];
}

/** A set in two halves: rules may be changed for what is found in the first, never for the second. */
export interface LabelledSet {
  readonly name: string;
  readonly tune: readonly LabelledText[];
  readonly heldOut: readonly LabelledText[];
}

const presidioSchema = z.array(
  z.object({
    full_text: z.string(),
    spans: z.array(z.object({ entity_type: z.string(), entity_value: z.string() })),
  }),
);
const nanoSchema = z.array(
  z.object({
    text: z.string(),
    NER: z.array(z.object({ label: z.string(), entity: z.string().default("") })),
  }),
);

const FILES = {
  presidio: "presidio_synth_v2.json.gz", // microsoft/presidio-research, MIT
  nano: "pii_syn_nano_en.json.gz", // Nannigalaxy/PII-synthetic_dataset, MIT
} as const;

/** The sets of `folder`; undefined where it lacks one. */
export function readLabelledSets(folder: string): readonly LabelledSet[] | undefined {
  const [presidio, nano] = [join(folder, FILES.presidio), join(folder, FILES.nano)];
  if (!existsSync(presidio) || !existsSync(nano)) return undefined;
  return [
    halvesOf(
      "presidio-research, synthetic",
      presidioSchema.parse(readJson(presidio)).map(({ full_text: text, spans }) => ({
        text,
        spans: spans.map((span) => ({ label: span.entity_type, value: span.entity_value })),
      })),
    ),
    halvesOf(
      "PII synthetic nano, English",
      nanoSchema.parse(readJson(nano)).map(({ text, NER }) => ({
        text,
        spans: NER.map(({ label, entity }) => ({ label, value: entity })),
      })),
    ),
  ];
}

/** The names of the files that {@link readLabelledSets} wants. */
export const LABELLED_FILES: readonly string[] = Object.values(FILES);

function readJson(file: string): unknown {
  return JSON.parse(gunzipSync(readFileSync(file)).toString("utf8"));
}

function halvesOf(name: string, texts: readonly LabelledText[]): LabelledSet {
  return {
    name,
    tune: texts.filter((_text, index) => index % 2 === 0),
    heldOut: texts.filter((_text, index) => index % 2 === 1),
  };
}

/** What a label asks of the gate. */
export interface LabelRule {
  /** The rules that name this kind of value. */
  readonly rules: readonly PolicyRule[];
  /** Whether this value is one at all: labels also stand on masks ("XXX-XX-2409") and on names ("Patient ID"). */
  readonly isValue: (value: string) => boolean;
}

const digitsOf = (value: string): string => value.replaceAll(/\D/gu, "");
const isMasked = (value: string): boolean => /X{3,}|\*{2,}|\.{3}/u.test(value);
/** At least this many digits and no mask. */
const digits =
  (least: number) =>
  (value: string): boolean =>
    digitsOf(value).length >= least && !isMasked(value);

const DOCUMENT: LabelRule = { rules: ["id_document"], isValue: digits(5) };
const NATIONAL: LabelRule = { rules: ["national_id"], isValue: digits(7) };
const BANK: LabelRule = { rules: ["bank_account", "iban"], isValue: digits(7) };
const IBAN: LabelRule = { rules: ["iban"], isValue: (value) => isIban(value) };

/** To refuse. A card or an IBAN counts when its check sum is right: another one is a number with a typing error. */
export const REFUSED: Readonly<Record<string, LabelRule>> = {
  CREDIT_CARD: { rules: ["card_number"], isValue: (value) => isCardNumber(value, true) },
  IBAN,
  IBAN_CODE: IBAN,
  US_SSN: { rules: ["national_id"], isValue: digits(9) },
  SSN: { rules: ["national_id"], isValue: digits(9) },
  AADHAR: { rules: ["national_id"], isValue: (value) => digitsOf(value).length === 12 },
  PAN: { rules: ["national_id"], isValue: (value) => /^[A-Z]{5}\d{4}[A-Z]$/u.test(value) },
  TAX_ID: NATIONAL,
  TAXID: NATIONAL,
  PASSPORT: DOCUMENT,
  PASSPORT_NUM: DOCUMENT,
  US_DRIVER_LICENSE: DOCUMENT,
  DRIVER_LICENSE: DOCUMENT,
  DRIVERS_LICENSE: DOCUMENT,
  DRIVER_LICENSE_NUM: DOCUMENT,
  LICENSE: DOCUMENT,
  BANK_ACCOUNT: BANK,
  BANK_ACCOUNT_NUM: BANK,
  ACCOUNT_NUMBER: BANK,
  PASSWORD: { rules: ["password"], isValue: (value) => value.length >= 4 && !isMasked(value) },
};

/**
 * To let pass: what a memory about a person is made of, and numbers of a customer or patient that open nothing. The bank
 * code of a routing number is public.
 */
export const PASSED: ReadonlySet<string> = new Set(
  `PERSON NAME STREET_ADDRESS ADDRESS GPE LOCATION ORGANIZATION ORG PHONE_NUMBER PHONE DATE_TIME DATE DOB TITLE AGE NRP
  EMAIL_ADDRESS EMAIL ZIP_CODE DOMAIN_NAME URL IP_ADDRESS SYSTEM PATIENT_ID INSURANCE_ID INSURANCE_POLICY_NUM USERID
  USER_ID USERNAME ROUTING_NUMBER`.split(/\s+/u),
);
