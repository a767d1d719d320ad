/** The headings of a Markdown text: `#` lines and underlined ones, outside code. */
import { lineStarts, type Heading } from "./evidence-document.ts";

const HASHES = /^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*[ \t]*$/u;
const FENCE = /^ {0,3}(`{3,}|~{3,})/u;
const UNDERLINE = /^ {0,3}(=+|-{2,})[ \t]*$/u;
// A line that can be the text of an underlined heading: no list, quote, table, code or blank.
const PLAIN_LINE = /^ {0,3}(?![-*+>|#]|\d+[.)]\s)\S/u;

/** Finds them, in the order of their places. Front matter holds none. */
export function markdownHeadings(text: string): Heading[] {
  const headings: Heading[] = [];
  const starts = lineStarts(text);
  const lines = text.split("\n");
  let fence: string | undefined;
  for (let index = frontMatterLines(lines); index < lines.length; index += 1) {
    const line = lines[index] ?? "";
    const mark = FENCE.exec(line)?.[1];
    if (fence !== undefined) {
      if (mark?.startsWith(fence) === true) fence = undefined;
    } else if (mark !== undefined) fence = mark;
    else {
      const heading = headingAt(lines, index);
      if (heading !== undefined) headings.push({ at: starts[index] ?? 0, ...heading });
    }
  }
  return headings;
}

function headingAt(lines: readonly string[], index: number): Omit<Heading, "at"> | undefined {
  const line = lines[index] ?? "";
  const [, hashes = "", title = ""] = HASHES.exec(line) ?? [];
  if (title !== "") return { level: hashes.length, text: plain(title) };
  const under = UNDERLINE.exec(lines[index + 1] ?? "")?.[1];
  if (under === undefined || !PLAIN_LINE.test(line)) return undefined;
  return { level: under.startsWith("=") ? 1 : 2, text: plain(line) };
}

/** Without emphasis, code marks and the targets of links. */
function plain(title: string): string {
  return title
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/gu, "$1")
    .replaceAll(/[*`]+/gu, "")
    .trim();
}

function frontMatterLines(lines: readonly string[]): number {
  if (lines[0]?.trimEnd() !== "---") return 0;
  const end = lines.findIndex((line, index) => index > 0 && /^(?:---|\.\.\.)\s*$/u.test(line));
  return end + 1;
}
