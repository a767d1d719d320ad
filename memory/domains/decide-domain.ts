/** Decides the personality domain of a remembered text by the table of `domain-rules.ts`. */
import type { PersonalityDomain } from "../record.ts";
import { DOMAIN_RULES } from "./domain-rules.ts";

/** A domain, and the row of the table that gave it. */
export interface DomainDecision {
  readonly domain: PersonalityDomain;
  readonly rule: string;
}

const POLITE =
  /^(?:(?:please|kindly|bitte|merci de|s'il te plaît|remember(?: that)?|note(?: that)?|(?:hey )?lily(?=[,:])),?\s*[,:]?\s+)+(?!to\b)/iu;

/** The domain of `text`; `user_profile` by the rule `default` when no row holds. The same text always gets the same. */
export function decideDomain(text: string): DomainDecision {
  const plain = text.normalize("NFKC").replaceAll("’", "'").trim();
  const subject = plain.replace(POLITE, "");
  const rule = DOMAIN_RULES.find(({ pattern }) => pattern.test(subject));
  return rule === undefined
    ? { domain: "user_profile", rule: "default" }
    : { domain: rule.domain, rule: rule.name };
}
