/** Shows the Markdown of Lily's own replies on a terminal: paragraphs, tables, and what is bold at their beginning. */
import { printable } from "../printable.ts";
import type { Screen } from "../screen.ts";
import { wrapped } from "./indent.ts";
import { table } from "./table.ts";
import { joined } from "#src/kernel/markdown.ts";

/** A screen narrower than this shows a row of more than two cells as a paragraph. */
const NARROW = 72;

/** `text` for the screen; what is no table is wrapped. */
export function renderMarkdown(text: string, screen: Screen): string {
  return printable(text)
    .split(/\n{2,}/u)
    .map((block) =>
      /^\|.*\|\n\|(?: --- \|)+/u.test(block) ? renderTable(block, screen) : renderParagraph(block, screen),
    )
    .join("\n\n");
}

function renderParagraph(block: string, screen: Screen): string {
  const { bold } = screen.paint;
  return wrapped(block, screen).replace(/^\*\*([\s\S]+?)\*\*/u, (_all, name: string) => bold(name));
}

function renderTable(block: string, screen: Screen): string {
  const { paint } = screen;
  const [head = [], , ...lines] = block.split("\n").map(cellsOf);
  const rows = lines.map(([first = "", ...rest]) => [paint.cyan(first), ...rest]);
  if (head.length > 2 && screen.columns < NARROW)
    return table({ rows: rows.map(([first = "", ...rest]) => [first, joined(rest, "\n")]) }, screen);
  return table(head.every((cell) => cell === "") ? { rows } : { head, rows }, screen);
}

/** The cells of a line; a code span that fills a cell is shown without its marks. */
function cellsOf(line: string): string[] {
  return line
    .slice(2, -2)
    .split(" | ")
    .map((cell) =>
      cell
        .replaceAll(/\\([\\|])/gu, "$1")
        .replace(/^`(.+)`$/u, "$1")
        .trim(),
    );
}
