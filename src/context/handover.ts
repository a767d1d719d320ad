/** The hand-over note: what was last said in the session before, cut short. */
import { spokenText } from "#src/sessions/message.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { answerOf } from "#src/sessions/turn-record.ts";

const MAX_PART = 280;

/** The note for a session that follows one whose last turn was `last`. */
export function handoverNote(title: string | undefined, last: TurnRecord): string {
  const asked = spokenText(last.messages.find((message) => message.role === "user"));
  const lines = [`The user last said: ${clip(asked)}`, `The assistant last said: ${clip(answerOf(last))}`];
  return [...(title === undefined ? [] : [`It was called: ${clip(title)}`]), ...lines].join("\n");
}

function clip(text: string): string {
  const line = text.replaceAll(/\s+/gu, " ").replaceAll("<", "‹").trim();
  return line.length > MAX_PART ? `${line.slice(0, MAX_PART).toWellFormed()} …` : line;
}
