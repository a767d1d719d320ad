/** The part of a turn by which a person recognises what it says. Pure. */
import type { Says } from "./says.ts";

const MOST_CHARACTERS = 80;

/** What says it, in one line: all of it when it is short, else from where it is said. */
export function excerptOf(said: string, says: Says): string {
  const whole = inOneLine(said);
  if (whole.length <= MOST_CHARACTERS) return whole;
  const text = inOneLine(said.split("\n").find(says) ?? said);
  const start = text.length <= MOST_CHARACTERS ? 0 : lastStart(text, says);
  return `${start > 0 ? "…" : ""}${text.slice(start, start + MOST_CHARACTERS)}`.toWellFormed();
}

/** The last place from which `text` still says it: it says it from every earlier one, too. */
function lastStart(text: string, says: Says): number {
  let start = 0;
  let after = text.length;
  while (after - start > 1) {
    const between = (start + after) >>> 1;
    if (says(text.slice(between))) start = between;
    else after = between;
  }
  return start;
}

function inOneLine(text: string): string {
  return text.replaceAll(/\s+/gu, " ").trim();
}
