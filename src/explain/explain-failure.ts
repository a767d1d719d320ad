/** Explains a turn that failed: what went wrong where, and what became of the message. */
import { localTime } from "#src/sessions/day-boundary.ts";
import type { FailedTurn } from "#src/sessions/repository.ts";
import { attemptsText } from "./answer-reasons.ts";
import { sessionText, type TurnSurroundings } from "./explain-turn.ts";
import { quoted, reasonsOf, type Reason, type Telling } from "./reason.ts";

/** The failure in one sentence. */
export function failureHeadline({ at, sessionId, message }: FailedTurn, telling: Telling): string {
  const when = localTime(at, telling.timeZone);
  return `A message to ${telling.nameOf(sessionId)} was not answered (${when}): ${message.replace(/[.!?…]+$/u, "")}.`;
}

/** The step in which it failed, as people call it; others go by their own name. */
const STEPS: Readonly<Record<string, string>> = {
  admit: "when the message was taken in",
  decideRollover: "when it was decided whether the conversation goes on",
  rotate: "when a new session was begun",
  assembleContext: "when the context was put together",
  // Its name in records of earlier versions.
  prepareTurn: "when the context was put together",
  callModel: "when the model was asked",
  runTools: "when a tool ran",
  runCommand: "when the command ran",
  solveSymbolically: "when the built-in solver looked for an answer",
  commit: "when the turn was stored",
};

/** Its reasons. */
export function explainFailure(
  failure: FailedTurn,
  around: Pick<TurnSurroundings, "chain" | "entry">,
  telling: Telling,
): Reason[] {
  const { code, node, text, attempts = [] } = failure;
  return reasonsOf(
    ["message", quoted(text)],
    ["session", sessionText(around, telling)],
    ["failed", `${code}, ${STEPS[node] ?? `in the step ${node}`}`],
    ["failed calls", attemptsText(attempts, telling.timeZone)],
    ["kept", "no part of an answer; the message is in this note alone, not in the conversation"],
  );
}
