/** The policy gate: whether a text may become a memory, by which rule it may not, and what it is without characters that nobody sees. */
import type { MemoryRecord } from "../record.ts";
import { findSecrets, namedRule } from "./find-secrets.ts";
import {
  type HiddenText,
  POLICY_RULES,
  type PolicyDenial,
  type PolicyRule,
  type PolicyVerdict,
} from "./verdict.ts";
import type { SecretScanner } from "./secret-scanner.ts";

export interface CheckOptions {
  readonly scan: SecretScanner;
  /** The owner said it: nothing waits for a review. */
  readonly isTrusted: boolean;
  /** It is a name, as of a task: it need not be a fact by its size and form. */
  readonly isName?: boolean;
}

/** Longest fact in characters: long enough for a paragraph with its reasons, short enough to be injected whole. */
const MAX_FACT_CHARACTERS = 2_000;
/** Beyond this nothing is looked for: the text is refused for its length. In code units. */
const MAX_SCANNED = MAX_FACT_CHARACTERS * 4;

const OF_LILY = /\b(?:lily|the (?:assistant|ai|model|agent|bot))\b/iu;

/**
 * The rule by which a fact waits for a review unless it is the owner's word; null when it does not. What changes who Lily is
 * or how she works is the owner's to say: by its domain, or because it speaks of her. Its wording decides nothing else.
 */
export function reviewRule({ domain, text }: Pick<MemoryRecord, "domain" | "text">): PolicyRule | null {
  const changesLily = domain === "persona_core" || domain === "working_rules" || OF_LILY.test(text);
  return changesLily ? "instruction_like" : null;
}

/**
 * Judges `raw`: size and form, then secrets, then hidden characters that deceive, which wait for a review unless the owner
 * wrote them. Whether an allowed text waits for what it would change is {@link reviewRule}'s to say, once its domain is known.
 */
export async function checkText(raw: string, options: CheckOptions): Promise<PolicyVerdict> {
  if (raw.length > MAX_SCANNED) return { action: "deny", denial: denialOf("too_long") };
  const { text: clean, hidden } = cleanHidden(raw);
  const text = clean.normalize("NFC").trim();
  const limit = limitOf(text);
  if (limit !== null && options.isName !== true) return { action: "deny", denial: denialOf(limit) };
  const findings = await findSecrets(text, options.scan);
  if (findings.length > 0) return { action: "deny", denial: denialOf(namedRule(findings)) };
  if (!options.isTrusted && hidden !== null && isDeceptive(hidden))
    return { action: "quarantine", rule: "hidden_text", text, hidden };
  return { action: "allow", text, hidden };
}

/** Why the first of `names`, such as that of a task, may not be kept; `undefined` when all of them may. */
export async function nameDenial(
  names: readonly (string | null | undefined)[],
  options: CheckOptions,
): Promise<PolicyDenial | undefined> {
  for (const name of names) {
    const verdict = name == null ? undefined : await checkText(name, { ...options, isName: true });
    if (verdict?.action === "deny") return verdict.denial;
  }
  return undefined;
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

/** What nobody sees, in words. */
const NAMES: readonly (readonly [RegExp, string])[] = [
  [/[\u{E0000}-\u{E007F}]/u, "tag character"],
  [/[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]/u, "variation selector"],
  [/[\u202A-\u202E\u2066-\u2069]/u, "direction control"],
  [/\u00AD/u, "soft hyphen"],
  [/[\u200B-\u200D\u2060\uFEFF]/u, "zero-width character"],
  [/[\u115F\u1160\u3164\uFFA0]/u, "blank filler"],
  [/\p{Cc}/u, "control character"],
];

const SELECTOR = String.raw`[\uFE00-\uFE0F\u{E0100}-\u{E01EF}]`;
const JOINER = String.raw`[\u200C\u200D]`;
/** What no script is written with; the first one, the flag of a region, is a black flag with tags and stays. */
const HIDDEN = new RegExp(
  [
    String.raw`(\u{1F3F4}[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{3,6}\u{E007F})`,
    String.raw`[\u00AD\u200B\u2060-\u206F\u202A-\u202E\u3164\uFEFF\uFFA0\uFFF9-\uFFFB\u{E0000}-\u{E00FF}\u{E01F0}-\u{E0FFF}]`,
    String.raw`(?![\t\n])\p{Cc}`,
    // A selector chooses a form of a digit, sign or picture, and only one does.
    `(?<=[a-z]|${SELECTOR})${SELECTOR}`,
    `(?<=[a-z0-9])(?:${JOINER}|\u034F)|(?<=${JOINER})${JOINER}`,
    String.raw`(?<![\u1100-\u11FF])[\u115F\u1160](?![\u1160-\u11FF])`,
  ].join("|"),
  "giu",
);

/**
 * The text without characters that a reader cannot see, and what they were; null when there were none. Scripts and emoji
 * keep theirs; `\r\n` and other ends of lines become `\n`, half a surrogate pair U+FFFD.
 */
export function cleanHidden(raw: string): { readonly text: string; readonly hidden: HiddenText | null } {
  const counts = new Map<string, number>();
  const text = raw
    .toWellFormed()
    .replaceAll(/\r\n|[\r\u2028\u2029]/gu, "\n")
    .replaceAll(HIDDEN, (found: string, flag: string | undefined) => {
      if (flag !== undefined) return flag;
      counts.set(found, (counts.get(found) ?? 0) + 1);
      return "";
    });
  const codes = [...counts].map(([character, count]) => ({
    code: `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`,
    name: NAMES.find(([pattern]) => pattern.test(character))?.[1] ?? "invisible character",
    count,
  }));
  return { text, hidden: codes.length === 0 ? null : { codes } };
}

/** Whether something was spelled with hidden characters, or the order of what is read was turned round. */
export function isDeceptive({ codes }: HiddenText): boolean {
  const count = (name: string): number =>
    codes.reduce((sum, code) => sum + (code.name === name ? code.count : 0), 0);
  const isTurned = codes.some(({ code }) => code === "U+202E" || code === "U+202D");
  return (
    isTurned ||
    count("tag character") > 0 ||
    count("variation selector") > 2 ||
    count("zero-width character") > 7
  );
}
