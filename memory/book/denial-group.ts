/** Tells a sentence from its denial: both come down to the same bare statement, which is what they are about. */

/** Words before the statement that only say that something is corrected. */
const LEAD = /^(?:(?:no|nope|actually|correction|final|finally|update),?:? +)?(?:remember (?:that )?)?/u;

/** Words that deny, affirm or limit a statement in time, and leave its core as it is. In order. */
const REPLACED: readonly (readonly [pattern: RegExp, by: string])[] = [
  [/\bi'm\b/gu, "i am"],
  [/\b(\w+)'re\b/gu, "$1 are"],
  [/\b(?:cannot|can't)\b/gu, "can"],
  [/\bwon't\b/gu, "will"],
  [/\b(?:do|does|did)(?:n't| not)\b/gu, " "],
  [/\b(is|are|was|were|has|have|had|should|must|would|could|need)n't\b/gu, "$1"],
  [/\b(?:no longer|not|never|always|no|any|a|an)\b/gu, " "],
  [/\b(?:(?:any ?)?more|now|these days|at all|really|ever|still)\b *$/u, " "],
  [/\bhas\b/gu, "have"],
];

const MIN_WORDS = 2;
const MAX_WORDS = 12;

/**
 * `denial:` and the bare statement of one sentence, e.g. `denial:i drink coffee` for "I drink coffee" and for "I don't
 * drink coffee any more"; null for what is no single short statement.
 *
 * @param comparable text in the form of `comparableText`, in the first person where it is about the user
 */
export function denialGroupOf(comparable: string): string | null {
  let bare = comparable.replace(LEAD, "");
  if (/[,;:.!?()"]\s/u.test(bare)) return null;
  for (const [pattern, by] of REPLACED) bare = bare.replace(pattern, by);
  const words = bare.split(" ").filter((word) => word !== "");
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
