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

/** A line, or a row of several. */
interface Line extends TextRange {
  readonly text: string;
}

/**
 * The tables in a range of `text`. Paragraphs of the same columns behind each other are one.
 *
 * @param before the table that the text in front of the range ended with; it may go on
 */
export function tablesIn(text: string, range: TextRange, before?: Table): Table[] {
  const tables: Table[] = [];
  let open = before;
  for (const lines of paragraphsIn(text, range)) {
    const more = open !== undefined && isOfColumns(text, lines, open) ? open : undefined;
    const table = more === undefined ? tableOf(text, lines) : { ...more, ...spanOf(lines) };
    if (table !== undefined && more !== undefined && tables.at(-1) === more)
      tables[tables.length - 1] = { ...more, end: table.end };
    else if (table !== undefined) tables.push(table);
    open = table === undefined ? undefined : tables.at(-1);
  }
  return tables;
}

/** Lines that no blank line is between. */
function paragraphsIn(text: string, range: TextRange): Line[][] {
  const paragraphs: Line[][] = [[]];
  for (const { start, end } of linesIn(text, range)) {
    const line = { start, end, text: text.slice(start, end) };
    if (line.text.trim() !== "") paragraphs.at(-1)?.push(line);
    else paragraphs.push([]);
  }
  return paragraphs.filter(({ length }) => length > 0);
}

/** Whether lines go on with `table`: of its columns, without a header of their own. */
function isOfColumns(text: string, lines: readonly Line[], { separator, columns, header }: Table): boolean {
  const [first, second] = lines;
  if (second !== undefined && RULE.test(second.text)) return false;
  if (header !== null && first?.text === text.slice(header.start, header.end).split("\n", 1)[0]) return false;
  const looked = lines.slice(0, LOOKED_AT);
  const fitting = looked.filter((line) => cellsOf(line.text, separator).length === columns);
  return fitting.length >= looked.length * SHARE;
}

/** A table of `lines` as they are or, where that names no columns, of whole rows: a quote may also be a mark of inches. */
function tableOf(text: string, lines: readonly Line[]): Table | undefined {
  const looked = lines.slice(0, LOOKED_AT);
  const plain = tableOfRows(looked);
  const whole = plain?.header != null ? undefined : tableOfRows(wholeRows(text, looked));
  const table = whole?.header != null ? whole : plain;
  return table === undefined ? undefined : { ...table, end: spanOf(lines).end };
}

/** Lines, or rows of several where a quoted cell goes on over the end of its line. */
function wholeRows(text: string, lines: readonly Line[]): Line[] {
  const rows: Line[] = [];
  let isOpen = false;
  for (const line of lines) {
    const last = rows.at(-1);
    if (isOpen && last !== undefined)
      rows[rows.length - 1] = { start: last.start, end: line.end, text: text.slice(last.start, line.end) };
    else rows.push(line);
    if ((line.text.match(/"/gu)?.length ?? 0) % 2 === 1) isOpen = !isOpen;
  }
  return rows;
}

function tableOfRows(lines: readonly Line[]): Table | undefined {
  const plain = lines.filter(({ text }) => !RULE.test(text));
  if (plain.length < LEAST_LINES) return undefined;
  const shapes = SEPARATORS.map((separator) => shapeOf(plain, separator));
  const best = shapes.reduce((a, b) => (b.rows.length > a.rows.length ? b : a));
  const [first, ...rows] = best.rows;
  if (first === undefined || best.rows.length < plain.length * SHARE) return undefined;
  const { start, end } = first.line;
  const below = lines[lines.indexOf(first.line) + 1];
  const rule = below !== undefined && RULE.test(below.text) ? below : undefined;
  const otherCells = rows.map(({ cells }) => cells);
  const isNamed = rule !== undefined || isHeader(first.cells, otherCells);
  return {
    start,
    end: spanOf(lines).end,
    header: isNamed ? { start, end: rule?.end ?? end } : null,
    separator: best.separator,
    columns: best.columns,
  };
}

/** How many cells most lines have with this separator, and which lines these are. */
function shapeOf(lines: readonly Line[], separator: RegExp) {
  const all = lines.map((line) => ({ line, cells: cellsOf(line.text, separator) }));
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
