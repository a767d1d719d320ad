/** The end of a terminal's output, whose lines are written anew as they change; only what differs is written. */
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";
import type { Screen } from "../screen.ts";

/**
 * Lines that may change on a terminal of that size; the cursor stands behind the last one. Both functions return what is
 * to be written.
 */
export function createRepaint(screen: Pick<Screen, "columns" | "rows">) {
  let painted: readonly string[] = [];
  const show = (lines: readonly string[]): string => {
    const before = painted;
    painted = lines;
    if (before.length === 0) return lines.join("\n");
    const first = Math.max(sameBegin(before, lines), firstOnScreen(before, screen));
    if (first >= before.length) return ["", ...lines.slice(before.length)].join("\n");
    const [last = ""] = before.slice(first);
    const [next = "", ...more] = lines.slice(first);
    // Text mostly goes on at its end, where the cursor stands.
    if (first === before.length - 1 && next.startsWith(last))
      return [next.slice(last.length), ...more].join("\n");
    const up = before.slice(first).reduce((sum, line) => sum + rowsOf(line, screen.columns), -1);
    return `\r${up > 0 ? `\u001B[${up}A` : ""}\u001B[J${[next, ...more].join("\n")}`;
  };
  return {
    /** Shows `lines` in place of those that stand there. What has left the screen at its top stays as it is. */
    show,
    /** Leaves what stands there; what is shown next begins below it. */
    keep(): string {
      const isEmpty = painted.length === 0;
      painted = [];
      return isEmpty ? "" : "\n";
    },
  };
}

function sameBegin(before: readonly string[], lines: readonly string[]): number {
  const differs = before.findIndex((line, index) => line !== lines[index]);
  return differs === -1 ? before.length : differs;
}

/** The first of the lines that stands on the screen as a whole. */
function firstOnScreen(
  lines: readonly string[],
  { columns, rows }: Pick<Screen, "columns" | "rows">,
): number {
  let used = 0;
  const above = lines.findLastIndex((line) => (used += rowsOf(line, columns)) > rows - 1);
  return above + 1;
}

/** Rows that a terminal needs for a line: a character of two columns does not stand across the border. */
function rowsOf(line: string, columns: number): number {
  if (stringWidth(line) <= columns) return 1;
  return wrapAnsi(line, columns, { hard: true, wordWrap: false, trim: false }).split("\n").length;
}
