/** Tells a sentence from its denial: both come down to the same bare statement, which is what they are about. */

/** Words that limit a statement in time or make it general, and leave its core as it is. In order. */
const REPLACED: readonly (readonly [pattern: RegExp, by: string])[] = [
  [/\b(?:always|any|a|an)\b/gu, " "],
  [/\b(?:(?:any ?)?more|now|these days|at all|really|ever|still)\b *$/u, " "],
  [/\bhas\b/gu, "have"],
];

const MIN_WORDS = 2;
const MAX_WORDS = 12;
/** Scripts that write no spaces: there a statement of a few characters is a sentence. */
const UNSPACED = /^[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}]{3,30}$/u;

/**
 * `denial:` and the bare statement of one sentence, e.g. `denial:i drink coffee` for "I drink coffee" and for "I don't
 * drink coffee any more"; null for what is no single short statement.
 *
 * @param affirmed comparable text without what denies it, in the first person where it is about the user
 */
export function denialGroupOf(affirmed: string): string | null {
  let bare = affirmed;
  if (/[,;:.!?()"]\s|[，。！？；：]/u.test(bare)) return null;
  for (const [pattern, by] of REPLACED) bare = bare.replace(pattern, by);
  const words = bare.split(" ").filter((word) => word !== "");
  if (words.length === 1 && UNSPACED.test(words[0] ?? "")) return `denial:${bare.replace(/了$/u, "").trim()}`;
  if (words.length < MIN_WORDS || words.length > MAX_WORDS) return null;
  return `denial:${words.map(withoutEnding).join(" ")}`;
}

/** "eats" and "eat" are one word: of a person it is said with an ending that its denial has not. */
function withoutEnding(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/u.test(word)) return word;
  return word
    .replace(/ies$/u, "y")
    .replace(/(?<=ch|sh|ss|x|o)es$/u, "")
    .replace(/(?<=[^s])s$/u, "");
}
