/** What one fact may be in size and form. */
import type { PolicyRule } from "./verdict.ts";

/** Longest fact in characters: long enough for a paragraph with its reasons, short enough to be injected whole. */
export const MAX_FACT_CHARACTERS = 2_000;
const MIN_LIST_ITEMS = 3;
const MIN_SPEAKERS = 2;
const LIST_ITEM = /^\s*(?:[-*•‣]|\d{1,2}[.)])\s+\S/u;
const SPEAKER = /^\s*(?:user|assistant|human|ai|system|me|you|lily|bot)\s*:/iu;

/** The rule that `text` breaks by its size or form; null when it is one fact. */
export function limitOf(text: string): PolicyRule | null {
  if (!/[\p{L}\p{N}\p{Extended_Pictographic}]/u.test(text)) return "empty";
  if (characterCount(text) > MAX_FACT_CHARACTERS) return "too_long";
  const lines = text.split("\n");
  const isList = lines.filter((line) => LIST_ITEM.test(line)).length >= MIN_LIST_ITEMS;
  const isConversation = lines.filter((line) => SPEAKER.test(line)).length >= MIN_SPEAKERS;
  return isList || isConversation ? "not_one_fact" : null;
}

/** Code points, without making an array of a text that may be very long. */
function characterCount(text: string): number {
  let count = 0;
  for (const _character of text) count += 1;
  return count;
}
