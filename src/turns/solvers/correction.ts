/** Corrections in passing: "no, it is Rome" behind an answer is told of wherever that answer is given again. */
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { statementOf } from "#memory/book/statement.ts";
import { asksSomething } from "./question.ts";

const CORRECTS =
  /^(?:no|nope|wrong|not any ?more|actually|correction|sorry|oops|i meant?|nein|falsch|non|faux|нет|неправда|no es|não|nie|nee|nej|不对|不是|不對|いいえ|違う|아니)(?:[\s,.:;!—，、-]|$)/iu;
/** A refusal alone corrects nothing that could be told. */
const BARE = /^\P{L}*\p{L}+\P{L}*$/u;

/** Whether a text says that what was answered before it is otherwise. */
export function correctsSomething(text: string): boolean {
  return CORRECTS.test(text.trim()) && !BARE.test(text.trim()) && !asksSomething(text);
}

/** The newest turn that corrected an answer in which `quote` was quoted. */
export function correctionOf(turns: readonly TurnRecord[], quote: string): TurnRecord | undefined {
  return turns.findLast((turn, index) => {
    const before = turns[index - 1];
    return (
      before !== undefined &&
      turn.kind === "chat" &&
      correctsSomething(wordsBy("user", turn)) &&
      wordsBy("assistant", before).includes(`“${quote}”`)
    );
  });
}

/** The turn right behind `turn`, where it corrects without saying what: "no, BA118" behind "my flight is BA117". */
export function correctionBehind(turns: readonly TurnRecord[], turn: TurnRecord): TurnRecord | undefined {
  const next = turns[turns.indexOf(turn) + 1];
  if (next?.kind !== "chat" || turn.kind !== "chat") return undefined;
  const text = wordsBy("user", next);
  const says = statementOf(text);
  const isBare = says === null || says.group.startsWith("denial:");
  return isBare && correctsSomething(text) ? next : undefined;
}

/** The short id of the fact that the newest turn quoted from memory. */
export function factJustQuoted(turns: readonly TurnRecord[]): string | undefined {
  const last = turns.at(-1);
  if (last === undefined) return undefined;
  return /^(?:You asked me to remember|Noted by \w+) \([^)]*?, ([0-9a-f]{8})\)/u.exec(
    wordsBy("assistant", last),
  )?.[1];
}

/** What one side said in a turn. */
export function wordsBy(role: "user" | "assistant", { messages }: TurnRecord): string {
  return messages
    .filter((message) => message.role === role)
    .map(({ content }) => content)
    .join("\n");
}
