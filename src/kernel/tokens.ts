/** Token estimates that need no model: good enough to keep a budget, the same on every machine. */

/** Tokens that each message costs beside its text: role and separators of the chat format. */
export const MESSAGE_OVERHEAD_TOKENS = 4;

/** Tokens that a picture, recording or file counts: providers take 765 for a picture of 1024 × 1024, some more. */
export const ATTACHMENT_TOKENS = 1_000;

const WIDE_SCRIPTS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}\p{Extended_Pictographic}]/gu;

/** Most of a prompt, of which nothing has to be looked for. */
const ASCII_ONLY = /^\p{ASCII}*$/u;

/**
 * Estimated tokens of `text`: one for four characters of alphabetic text, one for each character of scripts that
 * tokenizers split finely. Errs high by about a tenth on English prose.
 */
export function estimateTokens(text: string): number {
  if (ASCII_ONLY.test(text)) return Math.ceil(text.length / 4);
  const wide = text.match(WIDE_SCRIPTS)?.length ?? 0;
  return wide + Math.ceil((text.length - wide) / 4);
}
