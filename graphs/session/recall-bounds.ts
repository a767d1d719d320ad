/** What bounds the reading of memory and of evidence for a turn. */
import type { SessionDeps } from "#src/app/session-deps.ts";

/** Words of a long message are enough to look by. */
const QUESTION_CHARACTERS = 1_000;

/** Share of the whole context that each may take where that is small. */
const MAX_SHARE = 0.25;

/** Ten pieces of both sides hardly ever take more. */
const MAX_RECALLED = 9_000;
const CHARACTERS_A_TOKEN = 4;

/** The words of a message by which something is looked for. */
export function questionIn(text: string): string {
  return text.slice(0, QUESTION_CHARACTERS).toWellFormed();
}

/** Tokens of a context that what was found may take, of those that are configured for it. */
export function recallBudget(
  { contextTokens }: Pick<SessionDeps["limits"], "contextTokens">,
  tokens: number,
): number {
  return Math.min(tokens, contextTokens * MAX_SHARE);
}

/** Characters of what is recalled at once: a quarter of a small context, so that there is room for more than it. */
export function recallCharacters({ contextTokens }: Pick<SessionDeps["limits"], "contextTokens">): number {
  return Math.min(MAX_RECALLED, Math.floor(contextTokens * MAX_SHARE) * CHARACTERS_A_TOKEN);
}
