/** Tells whether what was noted of the owner is what the owner has said in so many words. */
import { termsOf } from "#src/kernel/words.ts";
import { restates } from "./contradiction.ts";
import { sentencesOf, statementOf } from "./statement.ts";

/** What is longer is pasted rather than said. */
const MAX_SAID = 1_000;
/** Of others: code, and what stands between quotation marks or behind a mark at the beginning of a line. */
const OF_OTHERS = /```.*?(?:```|$)|^[ \t]*(?:>|\|).*$|"[^"]{12,}"|[“„«][^”“»]{12,}[”“»]/gmsu;

/**
 * Whether `note`, one statement, says nothing that the owner's message `said` does not state, deny or correct alike. What
 * they ask or quote is not said by them.
 */
export function isOwnWord(note: string, said: string): boolean {
  const noted = statementOf(note);
  if (noted === null || noted.isLimited || said.length > MAX_SAID) return false;
  return sentencesOf(said.replaceAll(OF_OTHERS, " "))
    .filter((sentence) => !/[?？؟]\s*$/u.test(sentence))
    .some((sentence) => {
      const stated = statementOf(sentence);
      if (stated === null || stated.isLimited) return false;
      return restates(stated, noted) && (noted.value !== "" || hasWordsOf(sentence, note));
    });
}

/** For statements of which the group does not tell everything. */
function hasWordsOf(sentence: string, note: string): boolean {
  const words = new Set(termsOf(sentence));
  return termsOf(note).every((term) => words.has(term) || term === "user");
}
