/** Which sentences ask something. */

const sentences = new Intl.Segmenter("en", { granularity: "sentence" });

/** The sentences of a text, without white space around them. */
export function sentencesOf(text: string): string[] {
  return Array.from(sentences.segment(text), ({ segment }) => segment.trim()).filter((one) => one !== "");
}

/** Whether a sentence is a question: by its mark, in any script, or by one of ten English openings. */
export function isQuestion(sentence: string): boolean {
  return ENDS_WITH_MARK.test(sentence) || OPENINGS.test(sentence);
}

// In Greek the mark is U+037E, or ";" as keyboards write it.
const ENDS_WITH_MARK = /(?:[?？؟⁇⁈⁉;]|\p{Script=Greek}\s*;)[^\p{L}\p{N}]*$/u;
const OPENINGS =
  /^\W*(?:who(?:se)?|what|which|where|why|how|when (?:is|was|do|does|did)|tell me|(?:am|do) i|is (?:my|the|it))\b/iu;

/** Whether any sentence of a text is a question. */
export function asksSomething(text: string): boolean {
  return sentencesOf(text).some(isQuestion);
}
