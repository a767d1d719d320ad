/** What a fact is about, if a later fact can contradict it: facts of one group exclude each other. */
import { comparableText } from "./comparable-text.ts";
import { CONFLICT_RULES } from "./conflict-rules.ts";

/** Longest group name; what is longer is about too much to be contradicted by one sentence. */
const MAX_GROUP = 120;

/** The conflict group of `text`, the same for the same text; null when it has none of the forms in `conflict-rules.ts`. */
export function conflictGroupOf(text: string): string | null {
  const comparable = comparableText(text);
  for (const { pattern, group } of CONFLICT_RULES) {
    const match = pattern.exec(comparable);
    if (match === null) continue;
    const name = group(match.groups ?? {});
    return name === null || name.length > MAX_GROUP ? null : name.replaceAll(/ {2,}/gu, " ");
  }
  return null;
}
