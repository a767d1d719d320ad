/** The policy gate: whether a text may become a memory, by which rule it may not, and what it is without hidden characters. */
import type { SaidBy } from "../record.ts";
import { findCredentials } from "./credential-findings.ts";
import { cleanHidden, isDeceptive, type CleanText } from "./hidden-text.ts";
import { isInstructionLike } from "./instructions.ts";
import { limitOf, MAX_FACT_CHARACTERS } from "./limits.ts";
import { findNumbers } from "./number-findings.ts";
import type { SecretScanner } from "./secret-scanner.ts";
import { POLICY_RULES } from "./policy-rules.ts";
import type { Finding, PolicyDenial, PolicyRule, PolicyVerdict } from "./verdict.ts";

/** Options of {@link checkText}. */
export interface CheckOptions {
  readonly scan: SecretScanner;
  /** Instructions pass: the owner said them, or vouches for the file that they stand in. */
  readonly isTrusted: boolean;
}

// Beyond this nothing is looked for: the text is refused for its length.
const MAX_SCANNED = MAX_FACT_CHARACTERS * 4;

/** Whether instructions from this speaker pass: only the owner gives any. */
export function isTrustedSpeaker(saidBy: SaidBy): boolean {
  return saidBy === "owner";
}

/**
 * Judges `raw`. Size and form first, then secrets (in the text and in its compatibility form, so that full-width digits hide nothing),
 * then hidden text and instructions, which are put aside for review and not refused.
 */
export async function checkText(raw: string, options: CheckOptions): Promise<PolicyVerdict> {
  if (raw.length > MAX_SCANNED) return { action: "deny", denial: denialOf("too_long"), hidden: null };
  const clean = cleanHidden(raw);
  const { hidden } = clean;
  const text = clean.text.normalize("NFC").trim();
  const limit = limitOf(text);
  if (limit !== null) return { action: "deny", denial: denialOf(limit), hidden };
  const findings = await findSecrets(text, options.scan);
  if (findings.length > 0)
    return {
      action: "deny",
      denial: await secretDenial(text, findings, options),
      hidden: maskedHidden(clean),
    };
  if (options.isTrusted) return { action: "allow", text, hidden };
  if (hidden !== null && isDeceptive(hidden))
    return { action: "quarantine", rule: "hidden_text", text, hidden };
  if (isInstructionLike(text)) return { action: "quarantine", rule: "instruction_like", text, hidden };
  return { action: "allow", text, hidden };
}

/** Secrets of a text, in the order of their places. Ranges of the compatibility form are used when only that shows one. */
async function findSecrets(text: string, scan: SecretScanner): Promise<Finding[]> {
  const direct = await findIn(text, scan);
  const compatible = compatibleForm(text);
  if (direct.length > 0 || compatible === text) return direct;
  // The ranges are those of another text, so the whole of this one is masked.
  return (await findIn(compatible, scan)).map(({ rule }) => ({ rule, start: 0, end: text.length }));
}

/** The text as a program may read it: compatibility forms undone, digits of any script as ASCII, joiners inside words gone. */
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

async function findIn(text: string, scan: SecretScanner): Promise<Finding[]> {
  const scanned = (await scan(text)).map(({ start, end }): Finding => ({ rule: "secret_key", start, end }));
  const findings = [...scanned, ...findCredentials(text), ...findNumbers(text)];
  return findings.sort((a, b) => a.start - b.start || b.end - a.end);
}

/** The name of the first rule; its text with every value masked, if that says something and passes the gate itself. */
async function secretDenial(
  text: string,
  findings: readonly Finding[],
  options: CheckOptions,
): Promise<PolicyDenial> {
  const rule = namedRule(findings);
  const safeText = maskFindings(text, findings);
  const isUseful = /\p{L}{2,}/u.test(safeText.replaceAll(/\[[a-z ]+\]/gu, ""));
  if (!isUseful || (await findSecrets(safeText, options.scan)).length > 0) return denialOf(rule);
  return { ...denialOf(rule), safeText };
}

/** Rules that say more exactly what the scanner of known services finds too. */
const EXACT: readonly PolicyRule[] = ["private_key", "jwt", "url_credentials"];

/** The rule of the first finding, or of an exact one that begins inside it. */
function namedRule(findings: readonly Finding[]): PolicyRule {
  const [first] = findings;
  const exact = findings.find(({ rule, start }) => EXACT.includes(rule) && start < (first?.end ?? 0));
  return exact?.rule ?? first?.rule ?? "credential";
}

function maskFindings(text: string, findings: readonly Finding[]): string {
  let masked = "";
  let at = 0;
  for (const { start, end, rule } of findings) {
    if (end <= at) continue;
    if (start >= at) masked += `${text.slice(at, start)}[${rule.replaceAll("_", " ")}]`;
    at = end;
  }
  return masked + text.slice(at);
}

/** What a refusal tells of hidden characters: their codes, not the text around them, which holds the secret. */
function maskedHidden({ hidden }: CleanText): CleanText["hidden"] {
  return hidden === null ? null : { ...hidden, shown: "", spelled: "" };
}

const NEXT: Partial<Record<PolicyRule, string>> = {
  empty: "Say in words what is to be remembered.",
  too_long: `Keep it to ${MAX_FACT_CHARACTERS} characters, or keep the text as evidence: /memory evidence ingest <path>.`,
  not_one_fact: "Remember each fact by itself.",
};

/** A refusal by `rule`. */
function denialOf(rule: PolicyRule): PolicyDenial {
  return {
    rule,
    message: `not remembered: ${POLICY_RULES[rule]} (rule ${rule})`,
    next:
      NEXT[rule] ??
      "Keep the value in a password manager, and remember where it is without the value itself.",
  };
}
