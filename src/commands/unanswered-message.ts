/** Tells of a message whose program ended before it was answered, and of what to do about it. Pure. */
import { fromInstant, localMinute } from "#src/kernel/clock.ts";
import { sliceWhole } from "#src/kernel/text.ts";

/** A message that nobody is answering. */
export interface UnansweredMessage {
  readonly deliveryId: string;
  readonly text: string;
  /** ISO instant at which its turn began. */
  readonly at: string;
  /**
   * `nothing`: its model had not answered. `begun`: it had, so that tools may have run. `waits`: one of its tools waits
   * for a person's decision.
   */
  readonly state: "nothing" | "begun" | "waits";
}

/** As much of the text as tells which message it is. */
const SHOWN_CHARACTERS = 60;

const WHY: Readonly<Record<UnansweredMessage["state"], string>> = {
  nothing: "was not answered: the program ended. Send it again.",
  begun:
    "was not answered: the program ended. Send it again, and it goes on where it was; what its tools did is not done again.",
  waits: "waits for a decision about one of its tools. With your next message it counts as not approved.",
};

/** E.g. `The message “how are you” of 09:12 was not answered: the program ended. Send it again.` */
export function unansweredText(
  { text, at, state }: UnansweredMessage,
  { timeZone, nowMs }: { readonly timeZone: string; readonly nowMs: number },
): string {
  return `The message ${quotedBeginning(text)} of ${timeText(fromInstant(at), nowMs, timeZone)} ${WHY[state]}`;
}

/** As much of a text as tells which one it is, on one line, in quotation marks. */
export function quotedBeginning(text: string): string {
  const line = text.replaceAll(/\s+/gu, " ").trim();
  return `“${line.length > SHOWN_CHARACTERS ? `${sliceWhole(line, 0, SHOWN_CHARACTERS)}…` : line}”`;
}

/** The time, with its date unless that is today. */
function timeText(atMs: number, nowMs: number, timeZone: string): string {
  const [date, time = ""] = localMinute(atMs, timeZone).split(" ");
  return localMinute(nowMs, timeZone).startsWith(`${date} `) ? time : `${date} ${time}`;
}
