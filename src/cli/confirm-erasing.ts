/** The yes that an erasure needs: how it is asked for at a terminal, and how it is sent. */

/** What is asked. */
export const ERASE_QUESTION = "Write yes to erase it; anything else leaves all as it is.";

/** Whether an answer is a yes. */
export function isYes(answer: string | undefined): boolean {
  return /^\s*y(?:es)?\s*$/iu.test(answer ?? "");
}

/** The same `/forget` with a yes, at its front: what stands behind a lone `--` is text. */
export function withYes(command: string): string {
  return command.replace(/^(\s*\/[a-z]+(?:@[\w.-]+)?[\s:])/iu, "$1--yes ");
}
