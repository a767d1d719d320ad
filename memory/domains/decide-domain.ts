/** Decides the personality domain of a remembered text by how it begins, in English; `--domain` says otherwise. */
import type { PersonalityDomain } from "../record.ts";

/** A domain, and the opening that gave it. */
export interface DomainDecision {
  readonly domain: PersonalityDomain;
  /** The row of {@link OPENINGS}, or `default`. */
  readonly rule: string;
}

/** The whole table; what begins otherwise is `user_profile`. */
export const OPENINGS: readonly (readonly [opening: string, domain: PersonalityDomain])[] = [
  ["you are", "persona_core"],
  ["your", "persona_core"],
  ["be", "persona_core"],
  ["speak", "persona_core"],
  ["always", "working_rules"],
  ["never", "working_rules"],
  ["do not", "working_rules"],
  ["when", "working_rules"],
  ["before", "working_rules"],
  ["if", "working_rules"],
];

/** The domain of `text`; `user_profile` by the rule `default` when it begins like no row. The same text always gets the same. */
export function decideDomain(text: string): DomainDecision {
  const words = text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll("’", "'")
    .trim()
    .replace(/^you're\b/u, "you are")
    .replace(/^don't\b/u, "do not")
    .split(/[^\p{L}\p{N}]+/u)
    .join(" ");
  const row = OPENINGS.find(([opening]) => words === opening || words.startsWith(`${opening} `));
  return row === undefined ? { domain: "user_profile", rule: "default" } : { domain: row[1], rule: row[0] };
}
