/** What a fact is about, if a later fact can contradict it: facts of one group exclude each other. */
import { comparableText } from "./comparable-text.ts";
import { CONFLICT_RULES } from "./conflict-rules.ts";
import { denialGroupOf } from "./denial-group.ts";

/** Longest group name; what is longer is about too much to be contradicted by one sentence. */
const MAX_GROUP = 120;

/**
 * The conflict group of `text`, the same for the same text: what it is about by the forms in `conflict-rules.ts`, else
 * the statement that it makes or denies; null when it is no single short statement.
 */
export function conflictGroupOf(text: string): string | null {
  const comparable = inFirstPerson(comparableText(text));
  for (const { pattern, group } of CONFLICT_RULES) {
    const match = pattern.exec(comparable);
    if (match === null) continue;
    return named(group(match.groups ?? {}) ?? denialGroupOf(comparable));
  }
  return named(denialGroupOf(comparable));
}

/** What others say of the user is about what the user says in the first person. */
function inFirstPerson(comparable: string): string {
  return comparable
    .replaceAll(/\b(?:the )?user's\b/gu, "my")
    .replaceAll(/\bthe user is\b/gu, "i am")
    .replaceAll(/\bthe user\b/gu, "i");
}

function named(group: string | null): string | null {
  return group === null || group.length > MAX_GROUP ? null : group.replaceAll(/ {2,}/gu, " ");
}
