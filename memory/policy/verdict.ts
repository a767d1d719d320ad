/** The rules of the policy gate, and what it says about a text that wants to become a memory, always with the rule that decided. */

/** Something in a text that a rule objects to, by code unit. */
export interface Finding {
  readonly rule: PolicyRule;
  readonly start: number;
  readonly end: number;
}

/** A refusal. It never repeats what it objects to. */
export interface PolicyDenial {
  readonly rule: PolicyRule;
  readonly message: string;
  readonly next: string;
}

/** Characters that a reader cannot see and that were removed. */
export interface HiddenText {
  readonly codes: readonly { readonly code: string; readonly name: string; readonly count: number }[];
}

/** The gate's answer. `text` is what may be stored: well formed, NFC, without hidden characters, trimmed. */
export type PolicyVerdict =
  | { readonly action: "allow"; readonly text: string; readonly hidden: HiddenText | null }
  | {
      readonly action: "quarantine";
      readonly rule: PolicyRule;
      readonly text: string;
      readonly hidden: HiddenText | null;
    }
  | { readonly action: "deny"; readonly denial: PolicyDenial };

/** Every rule of the gate: what it is about, in words for the person who is told. */
export const POLICY_RULES = {
  empty: "there is no text to remember",
  too_long: "the text is too long for one fact",
  not_one_fact: "the text is a list or a conversation, not one fact",
  secret_key: "the text holds a key or token of a known service",
  private_key: "the text holds a private key",
  jwt: "the text holds a signed token (JWT)",
  password: "the text holds a password or PIN",
  credential: "the text holds an access key, token or secret",
  url_credentials: "the text holds an address with a password in it",
  card_number: "the text holds a payment card number",
  iban: "the text holds a bank account number (IBAN)",
  bank_account: "the text holds a bank account number",
  national_id: "the text holds a national identity number",
  id_document: "the text holds the number of an identity document",
  offered: "nobody asked for it: it was found in what the conversation had no room for any more",
  instruction_like: "the text would change how Lily is or works, and is not your own word",
  forgotten_before: "the text says again what you had forgotten",
  hidden_text: "the text carries characters that hide something from the reader",
} as const;

/** The names of the rules; stable, so that programs can tell. */
export const POLICY_RULE_NAMES = Object.keys(POLICY_RULES) as readonly PolicyRule[];

export type PolicyRule = keyof typeof POLICY_RULES;
