/** Tells questions from statements, sentence by sentence, without a model. */

const sentences = new Intl.Segmenter("en", { granularity: "sentence" });

// What may stand behind the question mark: other marks, quotes, brackets, an ellipsis.
const ENDS_AS_QUESTION = /[?？؟⁇⁈⁉]["'”’»)\]）」』!…. ]*$/u;
// In Greek the question mark is ";" (U+037E, or U+003B as keyboards write it).
const ENDS_AS_GREEK_QUESTION = /\p{Script=Greek}[^;;]*[;;]$/u;
// "My code is 4711, ok?" states something and asks for a nod.
const ASKS_FOR_A_NOD = /,\s*(?:ok|okay|right|yes|no|please|isn['’]t it|alright)\s*[?？]$/iu;

const SUBJECT =
  "(?:i|you|he|she|it|we|they|there|this|that|these|those|my|your|his|her|its|our|their|the|an?|anyone|someone|anybody)";
const AUXILIARY =
  "(?:is|are|was|were|am|do|does|did|can|could|will|would|should|shall|may|might|must|has|have|had)";
const END = "(?![\\p{L}\\p{M}\\p{N}])";
const BEGINS_AS_QUESTION = new RegExp(
  [
    `^(?:who|whom|whose|what|which|where|why|how)${END}`,
    `^when\\s+${AUXILIARY}${END}`,
    `^${AUXILIARY}\\s+${SUBJECT}${END}`,
    `^(?:please\\s+)?(?:tell|remind)\\s+me${END}(?!\\s+that)`,
  ].join("|"),
  "iu",
);
// Languages that often write no question mark.
const ASKING_WORDS =
  /什么|什麼|谁|誰|哪|怎么|怎麼|为什么|為什麼|吗|嗎|几点|多少|ですか|ますか|何|どこ|いつ|อะไร|ที่ไหน|ไหม|ทำไม|เมื่อไหร่|เมื่อไร|อย่างไร|ใคร/u;

/** Whether a text asks something: at least one of its sentences is a question. */
export function asksSomething(text: string): boolean {
  return sentencesOf(text).some(isQuestion);
}

/** The sentences of a text that state something; `""` when there are none. */
export function statedIn(text: string): string {
  return sentencesOf(text)
    .filter((sentence) => !isQuestion(sentence))
    .join(" ");
}

/** The sentences of a text, line by line, without blank ones. */
export function sentencesOf(text: string): string[] {
  return text
    .split("\n")
    .flatMap((line) => Array.from(sentences.segment(line), ({ segment }) => segment.trim()))
    .filter((sentence) => sentence !== "");
}

function isQuestion(sentence: string): boolean {
  const begin = sentence.replace(/^["'“‘«([（「『¿\s]+/u, "");
  if (ASKS_FOR_A_NOD.test(sentence) && !BEGINS_AS_QUESTION.test(begin)) return false;
  return (
    ENDS_AS_QUESTION.test(sentence) ||
    ENDS_AS_GREEK_QUESTION.test(sentence) ||
    BEGINS_AS_QUESTION.test(begin) ||
    ASKING_WORDS.test(sentence)
  );
}
