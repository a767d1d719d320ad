/** Finds tables in a text: lines with the same number of cells, below a row that names the columns. */
import { linesIn, type TextRange } from "./evidence-document.ts";

/** A table as a range of a text. */
export interface Table extends TextRange {
  /** The row that names the columns, with the rule below it. It may stand on an earlier page; null where there is none. */
  readonly header: TextRange | null;
  readonly separator: RegExp;
  /** Cells of a row. */
  readonly columns: number;
}

// In the order in which they win where two fit equally well. Two blanks behind a sentence separate nothing.
const SEPARATORS: readonly RegExp[] = [/\t/u, /\|/u, /;/u, /(?<![.!?:]) {2,}/u, /,/u];

/** Of the lines of a paragraph, this share has to have the columns. */
const SHARE = 0.6;
/** So many lines of a paragraph are looked at: more would say the same. */
const LOOKED_AT = 1_000;
/** Fewer lines are no table of their own. */
const LEAST_LINES = 3;
/** Below a header or around a row: nothing but what lines are drawn with. */
const RULE = /^[\s|+:=_-]+$/u;

/**
 * The tables in a range of `text`. Paragraphs of the same columns behind each other are one.
 *
 * @param before the table that the text in front of the range ended with; it may go on
 */
export function tablesIn(text: string, range: TextRange, before?: Table): Table[] {
  const tables: Table[] = [];
  let open = before;
  for (const lines of paragraphsIn(text, range)) {
    const goesOn = open !== undefined && isOfColumns(text, lines, open);
    const table =
      goesOn && open !== undefined
        ? { ...open, ...spanOf(lines) }
        : tableOf(text, lines, wholeRows(text, lines));
    const last = tables.at(-1);
    if (table !== undefined && goesOn && last !== undefined && last === open)
      tables[tables.length - 1] = { ...last, end: table.end };
    else if (table !== undefined) tables.push(table);
    open = table === undefined ? undefined : tables.at(-1);
  }
  return tables;
}

/** Lines that no blank line is between. */
function paragraphsIn(text: string, range: TextRange): TextRange[][] {
  const paragraphs: TextRange[][] = [[]];
  for (const line of linesIn(text, range))
    if (text.slice(line.start, line.end).trim() !== "") paragraphs.at(-1)?.push(line);
    else paragraphs.push([]);
  return paragraphs.filter(({ length }) => length > 0);
}

/** Whether lines go on with `table`: of its columns, without a header of their own. */
function isOfColumns(
  text: string,
  lines: readonly TextRange[],
  { separator, columns, header }: Table,
): boolean {
  const [first = "", second = ""] = lines.slice(0, 2).map(({ start, end }) => text.slice(start, end));
  const isHeaded =
    RULE.test(second) ||
    (header !== null && first === text.slice(header.start, header.end).split("\n", 1)[0]);
  const looked = lines.slice(0, LOOKED_AT);
  const fitting = looked.filter(
    ({ start, end }) => cellsOf(text.slice(start, end), separator).length === columns,
  );
  return !isHeaded && fitting.length >= looked.length * SHARE;
}

/** Lines, or rows of several where a quoted cell goes on over the end of its line. */
function wholeRows(text: string, lines: readonly TextRange[]): TextRange[] {
  const rows: TextRange[] = [];
  let isOpen = false;
  for (const line of lines.slice(0, LOOKED_AT)) {
    const last = rows.at(-1);
    if (isOpen && last !== undefined) rows[rows.length - 1] = { start: last.start, end: line.end };
    else rows.push(line);
    if ((text.slice(line.start, line.end).match(/"/gu)?.length ?? 0) % 2 === 1) isOpen = !isOpen;
  }
  return rows;
}

/** A table of `lines` as they are or, where that names no columns, of `rows`: a quote may also be a mark of inches. */
function tableOf(text: string, lines: readonly TextRange[], rows: readonly TextRange[]): Table | undefined {
  const plain = tableOfRows(text, lines);
  if (plain?.header != null || rows.length === lines.length) return plain;
  const whole = tableOfRows(text, rows);
  return whole?.header == null ? plain : { ...whole, end: spanOf(lines).end };
}

function tableOfRows(text: string, lines: readonly TextRange[]): Table | undefined {
  const written = lines.slice(0, LOOKED_AT).map((line) => ({ line, text: text.slice(line.start, line.end) }));
  const plain = written.filter((one) => !RULE.test(one.text));
  if (plain.length < LEAST_LINES) return undefined;
  const shapes = SEPARATORS.map((separator) => shapeOf(plain, separator));
  const best = shapes.reduce((a, b) => (b.rows.length > a.rows.length ? b : a));
  const [first, ...rows] = best.rows;
  if (first === undefined || best.rows.length < plain.length * SHARE) return undefined;
  const below = written[written.findIndex(({ line }) => line === first.line) + 1];
  const isRuled = below !== undefined && RULE.test(below.text);
  const header = { start: first.line.start, end: isRuled ? below.line.end : first.line.end };
  return {
    start: header.start,
    end: spanOf(lines).end,
    header:
      isRuled ||
      isHeader(
        first.cells,
        rows.map(({ cells }) => cells),
      )
        ? header
        : null,
    separator: best.separator,
    columns: best.columns,
  };
}

/** How many cells most lines have with this separator, and which lines these are. */
function shapeOf(lines: readonly { readonly line: TextRange; readonly text: string }[], separator: RegExp) {
  const all = lines.map(({ line, text }) => ({ line, cells: cellsOf(text, separator) }));
  const counts = new Map<number, number>();
  for (const { cells } of all)
    if (cells.length > 1) counts.set(cells.length, (counts.get(cells.length) ?? 0) + 1);
  const columns = [...counts].sort(([, a], [, b]) => b - a)[0]?.[0] ?? 0;
  return { separator, columns, rows: all.filter(({ cells }) => cells.length === columns) };
}

/** What is quoted holds no separator; strokes at the ends of a line are its frame. */
function cellsOf(line: string, separator: RegExp): string[] {
  const bare = line.replaceAll(/"[^"]*"/gu, (quoted) => quoted.replaceAll(/[\t|;,]| {2,}/gu, " ")).trim();
  return bare
    .slice(bare.startsWith("|") ? 1 : 0, bare.endsWith("|") ? -1 : undefined)
    .trim()
    .split(separator)
    .map((cell) => cell.trim());
}

// Years name columns; other numbers and dates stand in rows.
const VALUE = /^(?!(?:19|20)\d\d$)["']?[\s.,:/+%()$€£-]*\d[\d\s.,:/+%()$€£-]*["']?$/u;

/** Whether a row names columns: words beginning with a letter, all different, and none of them again in its column. */
function isHeader(cells: readonly string[], rows: readonly (readonly string[])[]): boolean {
  const isNames = cells.every((cell, index) => (cell === "" ? index === 0 : !VALUE.test(cell)));
  const begin = cells.find((cell) => cell !== "") ?? "";
  return (
    isNames &&
    /^["'#*_]*\p{L}/u.test(begin) &&
    new Set(cells).size === cells.length &&
    cells.every((cell, index) => rows.every((row) => row[index] !== cell))
  );
}

function spanOf(lines: readonly TextRange[]): TextRange {
  return { start: lines[0]?.start ?? 0, end: lines.at(-1)?.end ?? 0 };
}
