/** The yes that an erasure needs: how it is asked for at a terminal, and how it is sent. */

import type { Envelope } from "#src/kernel/envelope.ts";

/** What is asked. */
const ERASE_QUESTION = "Write yes to erase it; anything else leaves all as it is.";

/** The envelope that asks for a yes, where it can be said at once: the question in the place of how else it is sent. */
export function askedHere({ next = "", text, ...envelope }: Envelope): Envelope {
  const asked =
    text?.endsWith(next) === true ? text.slice(0, text.length - next.length) + ERASE_QUESTION : text;
  return { ...envelope, next: ERASE_QUESTION, ...(asked === undefined ? {} : { text: asked }) };
}

/** Whether an answer is a yes. */
export function isYes(answer: string | undefined): boolean {
  return /^\s*y(?:es)?\s*$/iu.test(answer ?? "");
}

/** The same `/forget` with a yes, at its front: what stands behind a lone `--` is text. */
export function withYes(command: string): string {
  return command.replace(/^(\s*\/[a-z]+(?:@[\w.-]+)?[\s:])/iu, "$1--yes ");
}
