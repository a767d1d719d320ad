/** Tables without lines, whose widest columns give way until the table fits the screen. */
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

/** The table as lines, each at most as wide as the screen, without blanks at their ends; `""` without rows. */
export function table({ head, rows }: TableContent, screen: Screen): string {
  if (rows.length === 0) return "";
  const all = head === undefined ? rows : [head, ...rows];
  const fitted = fitWidths(naturalWidths(all), screen.columns);
  const cells = all.map((row) =>
    row.map((cell, column) => wrapAnsi(cell, fitted[column] ?? NARROWEST, { hard: true })),
  );
  // A wrapped cell may be narrower than it might be.
  const widths = naturalWidths(cells);
  return cells
    .flatMap((row, index) =>
      linesOf(row, widths, head !== undefined && index === 0 ? screen.paint.dim : String),
    )
    .join("\n");
}

function linesOf(
  row: readonly string[],
  widths: readonly number[],
  paint: (text: string) => string,
): string[] {
  const cells = row.map((cell) => cell.split("\n"));
  return Array.from({ length: Math.max(...cells.map(({ length }) => length)) }, (_, line) =>
    cells
      .map(({ [line]: text = "" }, column) => {
        const blanks = " ".repeat(Math.max(0, (widths[column] ?? 0) - stringWidth(text)));
        return `${paint(text)}${blanks}`;
      })
      .join(" ".repeat(GAP))
      .trimEnd(),
  );
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
