/** The part of a passage that fits a question best, for where the whole is too long to be shown. */
import { sliceWhole } from "#src/kernel/slice-text.ts";
import { rankTexts } from "#src/kernel/words.ts";
import type { EvidencePiece } from "./evidence-item.ts";

/**
 * At most about `limit` characters of a piece on one line, without the heading that its citation names: from the
 * sentence that fits `query` best on. The whole where it is short, the beginning where nothing fits. What is left out is
 * marked by `…`.
 */
export function quoteOf(
  piece: Pick<EvidencePiece, "text" | "headings">,
  query: string,
  limit: number,
): string {
  const line = bodyOf(piece).replaceAll(/\s+/gu, " ").trim();
  if (line.length <= limit) return line;
  const starts = sentenceStarts(line);
  const sentences = starts.map((start, index) => ({ start, text: line.slice(start, starts[index + 1]) }));
  const best = rankTexts(sentences, query, (sentence) => sentence.text)[0]?.item;
  const start = best?.start ?? 0;
  // The last sentences are shown together and not the very last alone.
  const from =
    starts.find((place) => place === start || (place >= line.length - limit && place < start)) ?? 0;
  const isCut = from + limit < line.length;
  const shown = sliceWhole(line, from, from + limit);
  // Not within a word, where there are any.
  const words = isCut ? shown.replace(/\s\S{0,30}$/u, "") : shown;
  return `${from > 0 ? "… " : ""}${words.trim()}${isCut ? " …" : ""}`;
}

function sentenceStarts(line: string): number[] {
  return [
    0,
    ...Array.from(line.matchAll(/[.!?…]["'”’)\]]*\s+|[。！？]/gu), ({ 0: end, index }) => index + end.length),
  ];
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
