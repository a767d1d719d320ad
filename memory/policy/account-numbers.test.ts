import { expect, it } from "vitest";
import { findAccounts } from "./account-numbers.ts";

const found = (text: string): string[] =>
  findAccounts(text).map(({ rule, start, end }) => `${rule} ${text.slice(start, end)}`);

it.each([
  ["my bank account number is 3847283911", "bank_account 3847283911"],
  ["sort code 20-00-00, account 55779911", "bank_account 55779911"],
  ["Kontonummer: 0532013000", "bank_account 0532013000"],
  ["my tax ID is 94-2841935", "national_id 94-2841935"],
  ["CPF 529.982.247-25", "national_id 529.982.247-25"],
  ["RSSMRA85T10A562S is hers", "national_id RSSMRA85T10A562S"],
  ["PAN: ABCPE1234F", "national_id ABCPE1234F"],
])("finds the number in %s", (text, finding) => {
  expect(found(text)).toContain(finding);
});

it.each([
  "my account number at the gym is 20417000",
  "529.982.247-26 has a wrong check digit",
  "tax return for 2026-01-31",
  "the tax year ends in December",
  "a PAN is a personal area network",
  "the bank account has two owners",
])("finds none in %s", (text) => {
  expect(found(text)).toEqual([]);
});
