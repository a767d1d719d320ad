/** Numbers of accounts and tax offices, which only their name makes sensitive, and numbers that are near to them. */
import { passed, stopped, type PolicyCase } from "./policy-case.ts";

export const ACCOUNT_POSITIVES: readonly PolicyCase[] = [
  ...stopped("bank_account", [
    "my bank account number is 3847283911",
    "Kontonummer 0532013000",
    "sort code 20-00-00, account 55779911",
    "direct deposit account: 000123456789",
  ]),
  ...stopped("national_id", [
    "my tax ID is 94-2841935",
    "Steuernummer: 12/345/67890",
    "CPF 529.982.247-25",
    "RSSMRA85T10A562S",
    "PAN card number ABCPE1234F",
  ]),
];

export const ACCOUNT_NEGATIVES: readonly PolicyCase[] = passed([
  "my account number at the gym is 20417",
  "the bank account is with Triodos",
  "my tax return for 2026-01-31 is done",
  "the tax office has 12 rooms",
  "a PAN is a personal area network",
  "123.456.789-00 is the shelf mark",
  "my insurance policy is 88291-LK",
  "the patient number at the clinic is 108965",
]);
