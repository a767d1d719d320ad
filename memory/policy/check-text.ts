/** The policy gate: whether a text may become a memory, by which rule it may not, and what it is without hidden characters. */
import type { MemoryRecord, SaidBy } from "../record.ts";
import { findSecrets, maskFindings, namedRule } from "./find-secrets.ts";
import { cleanHidden, isDeceptive } from "./hidden-text.ts";
import {
  type Finding,
  POLICY_RULES,
  type PolicyDenial,
  type PolicyRule,
  type PolicyVerdict,
} from "./verdict.ts";
import type { SecretScanner } from "./secret-scanner.ts";

export interface CheckOptions {
  readonly scan: SecretScanner;
  /** The owner said it, or vouches for the file that it stands in: nothing waits for a review. */
  readonly isTrusted: boolean;
  /** It is a name, as of a task: it need not be a fact by its size and form. */
  readonly isName?: boolean;
}

/** Longest fact in characters: long enough for a paragraph with its reasons, short enough to be injected whole. */
const MAX_FACT_CHARACTERS = 2_000;
/** Beyond this nothing is looked for: the text is refused for its length. In code units. */
const MAX_SCANNED = MAX_FACT_CHARACTERS * 4;

/** Whether what this speaker says is remembered without a review, whatever it changes: the owner's own word. */
export function isTrustedSpeaker(saidBy: SaidBy): boolean {
  return saidBy === "owner";
}

const OF_LILY = /\b(?:lily|the (?:assistant|ai|model|agent|bot))\b/iu;

/**
 * The rule by which a fact waits for a review; null when it does not. What changes who Lily is or how she works is the
 * owner's to say: by its domain, or because it speaks of her. Its wording decides nothing else.
 */
export function reviewRule(
  { domain, text }: Pick<MemoryRecord, "domain" | "text">,
  { isTrusted }: Pick<CheckOptions, "isTrusted">,
): PolicyRule | null {
  const changesLily = domain === "persona_core" || domain === "working_rules" || OF_LILY.test(text);
  return changesLily && !isTrusted ? "instruction_like" : null;
}

/**
 * Judges `raw`: size and form, then secrets, then hidden characters that deceive, which wait for a review unless the owner
 * wrote them. Whether an allowed text waits for what it would change is {@link reviewRule}'s to say, once its domain is known.
 */
export async function checkText(raw: string, options: CheckOptions): Promise<PolicyVerdict> {
  if (raw.length > MAX_SCANNED) return { action: "deny", denial: denialOf("too_long"), hidden: null };
  const { text: clean, hidden } = cleanHidden(raw);
  const text = clean.normalize("NFC").trim();
  const limit = limitOf(text);
  if (limit !== null && options.isName !== true) return { action: "deny", denial: denialOf(limit), hidden };
  const findings = await findSecrets(text, options.scan);
  if (findings.length > 0)
    return { action: "deny", denial: await secretDenial(text, findings, options), hidden };
  if (!options.isTrusted && hidden !== null && isDeceptive(hidden))
    return { action: "quarantine", rule: "hidden_text", text, hidden };
  return { action: "allow", text, hidden };
}

const LIST_ITEM = /^\s*(?:[-*•‣]|\d{1,2}[.)])\s+\S/u;
const SPEAKER = /^\s*(?:user|assistant|human|ai|system|me|you|lily|bot)\s*:/iu;

/** The rule that `text` breaks by its size or form; null when it is one fact. */
function limitOf(text: string): PolicyRule | null {
  if (!/[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(text)) return "empty";
  if (Array.from(text).length > MAX_FACT_CHARACTERS) return "too_long";
  const lines = text.split("\n");
  const isList = lines.filter((line) => LIST_ITEM.test(line)).length >= 3;
  const isConversation = lines.filter((line) => SPEAKER.test(line)).length >= 2;
  return isList || isConversation ? "not_one_fact" : null;
}

/** The name of the first rule; its text with every value masked, if that says something and passes the gate itself. */
async function secretDenial(
  text: string,
  findings: readonly Finding[],
  { scan }: CheckOptions,
): Promise<PolicyDenial> {
  const denial = denialOf(namedRule(findings));
  const safeText = maskFindings(text, findings);
  const isUseful = /\p{L}{2,}/u.test(safeText.replaceAll(/\[[a-z ]+\]/gu, ""));
  if (!isUseful || (await findSecrets(safeText, scan)).length > 0) return denial;
  return { ...denial, safeText };
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
