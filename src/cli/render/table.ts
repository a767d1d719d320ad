/** Tables without lines, whose widest columns give way until the table fits the screen. */
import Table from "cli-table3";
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";
import type { Screen } from "../screen.ts";

/** What a table shows. Cells must be printable already. */
export interface TableContent {
  readonly head?: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

const GAP = 2;
const NARROWEST = 6;

const NO_LINES = {
  top: "",
  "top-mid": "",
  "top-left": "",
  "top-right": "",
  bottom: "",
  "bottom-mid": "",
  "bottom-left": "",
  "bottom-right": "",
  left: "",
  "left-mid": "",
  mid: "",
  "mid-mid": "",
  right: "",
  "right-mid": "",
  middle: "",
};

/** The table as lines, each at most as wide as the screen, without blanks at their ends. */
export function table({ head, rows }: TableContent, screen: Screen): string {
  const all = head === undefined ? rows : [head, ...rows];
  const widths = fitWidths(naturalWidths(all), screen.columns);
  const cells = all.map((row, index) => {
    const isHead = head !== undefined && index === 0;
    return row.map((cell, column) =>
      paintCell(wrapAnsi(cell, widths[column] ?? NARROWEST, { hard: true }), isHead, screen),
    );
  });
  // Without widths of its own the library takes those of the wrapped cells and never cuts one.
  const drawn = new Table({
    chars: NO_LINES,
    style: { "padding-left": 0, "padding-right": GAP, head: [], border: [], compact: true },
  });
  drawn.push(...cells);
  return drawn
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

function paintCell(text: string, isHead: boolean, screen: Screen): string {
  return isHead ? screen.paint.dim(text) : text;
}

function naturalWidths(rows: readonly (readonly string[])[]): number[] {
  const count = Math.max(0, ...rows.map((row) => row.length));
  return Array.from({ length: count }, (_, column) =>
    Math.max(1, ...rows.flatMap((row) => (row[column] ?? "").split("\n")).map((line) => stringWidth(line))),
  );
}

/** Takes a character at a time from the widest column. */
function fitWidths(natural: readonly number[], columns: number): number[] {
  const widths = [...natural];
  // The gap after the last column is blank and may stand out.
  let excess = widths.reduce((sum, width) => sum + width + GAP, -GAP) - columns;
  while (excess > 0) {
    const widest = widths.indexOf(Math.max(...widths));
    const width = widths[widest] ?? 0;
    if (width <= NARROWEST) break;
    widths[widest] = width - 1;
    excess -= 1;
  }
  return widths;
}
