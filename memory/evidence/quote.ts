/** The part of a passage that fits a question best, for where the whole is too long to be shown. */
import { sliceWhole } from "#src/kernel/text.ts";
import { rankTexts } from "#src/kernel/words.ts";
import type { EvidencePiece } from "./evidence-item.ts";
import { tablesIn } from "./tables.ts";

/**
 * At most about `limit` characters of a piece on one line, without the heading that its citation names: from the
 * sentence, row or words on that fit `query` best. The whole where it is short, the beginning where nothing fits. What
 * is left out is marked by `…`.
 */
export function quoteOf(
  piece: Pick<EvidencePiece, "text" | "headings">,
  query: string,
  limit: number,
): string {
  const rows = bodyOf(piece)
    .split("\n")
    .map((row) => row.replaceAll(/\s+/gu, " ").trim())
    .filter((row) => row !== "");
  const line = rows.join(" ");
  if (line.length <= limit) return line;
  const header = headerOf(bodyOf(piece));
  // It is shown where it leaves room for other rows.
  const shownHeader = header.length === 0 || header.length > limit / 3 ? "" : `${header} `;
  const room = limit - shownHeader.length;
  const starts = startsIn(line, rows, room);
  const best = bestStart(line, starts, { query, from: header.length });
  // The last sentences are shown together and not the very last alone.
  const from = starts.find((place) => place === best || (place >= line.length - room && place < best)) ?? 0;
  const to = from + room;
  const shown = sliceWhole(line, from, to);
  // Not within a word, where there are any.
  const isInWord = to < line.length && /\S/u.test(line.charAt(to));
  const words = isInWord ? shown.replace(/\s\S{0,30}$/u, "") : shown;
  const begin = from === 0 ? "" : `${shownHeader}… `;
  return `${begin}${words.trim()}${to < line.length ? " …" : ""}`;
}

/** Ends of sentences; where those are farther apart than `room` beginnings of rows, and then of words. */
function startsIn(line: string, rows: readonly string[], room: number): number[] {
  const sentences = Array.from(
    line.matchAll(/[.!?…]["'”’)\]]*\s+|[。！？]/gu),
    ({ 0: end, index }) => index + end.length,
  );
  let at = 0;
  const beginnings = rows.map(({ length }) => (at += length + 1) - length - 1);
  const refined = (starts: readonly number[], between: (start: number, end: number) => readonly number[]) =>
    starts.flatMap((start, index) => {
      const end = starts[index + 1] ?? line.length;
      return end - start <= room ? [start] : [start, ...between(start, end)];
    });
  const byRow = refined([0, ...sentences], (start, end) =>
    beginnings.filter((place) => place > start && place < end),
  );
  return refined(byRow, (start, end) => wordStarts(line, { start, end, step: Math.ceil(room / 3) }));
}

/** A beginning of a word every `step` characters; without blanks, of a character. */
function wordStarts(
  line: string,
  { start, end, step }: { readonly start: number; readonly end: number; readonly step: number },
): number[] {
  const places: number[] = [];
  for (let at = start + step; at < end; at += step) {
    const blank = line.slice(at, at + step).search(/\s\S/u);
    const place = blank < 0 ? at : at + blank + 1;
    if (place < end) places.push(/[\udc00-\udfff]/u.test(line.charAt(place)) ? place + 1 : place);
  }
  return places;
}

/** Where the part begins that fits best: by its words, then by how they begin, as a store may know more of their forms. */
function bestStart(
  line: string,
  starts: readonly number[],
  { query, from }: { readonly query: string; readonly from: number },
): number {
  const all = starts.map((start, index) => ({ start, text: line.slice(start, starts[index + 1]) }));
  const parts = all.filter(({ start }) => start >= from);
  const ranked = [bare, begun].map((form) => rankTexts(parts, form(query), ({ text }) => form(text))[0]);
  return ranked.find((one) => one !== undefined)?.item.start ?? 0;
}

const bare = (text: string): string => text.normalize("NFKD").replaceAll(/\p{M}/gu, "").normalize("NFC");
const begun = (text: string): string => bare(text).replaceAll(/(\p{L}{5})\p{L}+/gu, "$1");

/** The row that names the columns of a table with which the text begins; `""` where it begins with none. */
function headerOf(text: string): string {
  const [table] = tablesIn(text, { start: 0, end: text.length });
  if (table?.start !== 0 || table.header === null) return "";
  const [row = ""] = text.slice(0, table.header.end).split("\n", 1);
  return row.replaceAll(/\s+/gu, " ").trim();
}

function bodyOf({ text, headings }: Pick<EvidencePiece, "text" | "headings">): string {
  const [first = "", ...rest] = text.split("\n");
  const heading = headings.at(-1);
  if (heading === undefined || !first.endsWith(heading)) return text;
  const body = rest
    .join("\n")
    .replace(/^[=-]+\n/u, "")
    .trim();
  return body === "" ? text : body;
}
