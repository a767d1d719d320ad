/** PDF to text, page by page. */
import type { getDocumentProxy } from "unpdf";
import { z } from "zod";
import {
  cleanDocument,
  type EvidenceDocument,
  type TextRange,
  MAX_PAGES,
  MAX_TEXT_CHARACTERS,
  tooMuch,
  unreadable,
} from "./evidence-document.ts";

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

const infoSchema = z.object({ info: z.object({ Title: z.string() }) });

/** Pieces of lines. A gap between two is one of its own: a blank as wide as it, without a height. */
const itemSchema = z.object({
  str: z.string().default(""),
  hasEOL: z.boolean().default(false),
  width: z.number().default(0),
  height: z.number().default(0),
});
const contentSchema = z.object({ items: z.array(itemSchema) });

/** Errors alone; the library's warnings would be printed between the answers. */
const QUIET = { verbosity: 0 } as const;

/**
 * Reads a PDF file.
 *
 * @throws {LilyError} `evidence_unreadable`, also for one that is encrypted or holds pictures alone; `file_too_large`
 */
export async function readPdf(bytes: Uint8Array, name: string): Promise<EvidenceDocument> {
  const pdf = await open(bytes, name);
  try {
    const pages = await pagesOf(pdf, name);
    const title = infoSchema.safeParse(await pdf.getMetadata().catch(() => undefined));
    return {
      ...joined(joinHyphens(pages.map(({ text }) => text))),
      sideBySide: pages.flatMap(({ isSideBySide }, index) => (isSideBySide ? [index + 1] : [])),
      type: "pdf",
      title: title.success ? title.data.info.Title : null,
    };
  } finally {
    await pdf.destroy();
  }
}

async function open(bytes: Uint8Array, name: string): Promise<Pdf> {
  const { getDocumentProxy } = await import("unpdf");
  try {
    // The library takes the bytes for itself.
    return await getDocumentProxy(new Uint8Array(bytes), QUIET);
  } catch (error) {
    if (error instanceof Error && error.name === "PasswordException")
      throw unreadable(name, "is encrypted with a password", "Save it without one.");
    throw unreadable(name, "is a damaged PDF", "Open it, and save it as PDF or text.");
  }
}

interface Page {
  readonly text: string;
  readonly isSideBySide: boolean;
}

async function pagesOf(pdf: Pdf, name: string): Promise<Page[]> {
  if (pdf.numPages > MAX_PAGES) throw tooMuch(name, `has ${pdf.numPages} pages; ${MAX_PAGES} can be read`);
  const pages: Page[] = [];
  let characters = 0;
  for (let number = 1; number <= pdf.numPages; number += 1) {
    const page = await pageOf(pdf, number, name);
    characters += page.text.length;
    if (characters > MAX_TEXT_CHARACTERS)
      throw tooMuch(name, `holds more than ${MAX_TEXT_CHARACTERS} characters of text`);
    pages.push(page);
  }
  if (pages.every(({ text }) => !/[\p{L}\p{N}]/u.test(text)))
    throw unreadable(name, "holds pictures and no text", "Run a text recognition over it first.");
  return pages;
}

async function pageOf(pdf: Pdf, number: number, name: string): Promise<Page> {
  try {
    const page = await pdf.getPage(number);
    const { items } = contentSchema.parse(await page.getTextContent());
    page.cleanup();
    return readItems(items);
  } catch {
    throw unreadable(
      name,
      `is a damaged PDF: page ${number} cannot be read`,
      "Open it, and save it as PDF or text.",
    );
  }
}

/** Wider than this many heights of a line, a gap is no blank: a column or cell ends there. */
const WIDE_GAP = 1.5;

/** The text of a page, with wide gaps as three blanks; two lines with such a gap are no chance. */
function readItems(items: readonly z.infer<typeof itemSchema>[]): Page {
  let text = "";
  let height = 0;
  let gaps = 0;
  for (const [index, item] of items.entries()) {
    height = item.height || height;
    const isGap = item.str.trim() === "" && !item.hasEOL && item.width > height * WIDE_GAP;
    if (isGap && text !== "" && !text.endsWith("\n") && items[index + 1] !== undefined) {
      text += "   ";
      gaps += 1;
    } else text += item.str;
    if (item.hasEOL) text += "\n";
  }
  return { text, isSideBySide: gaps > 1 };
}

function joined(raw: readonly string[]): Omit<EvidenceDocument, "type" | "title" | "sideBySide"> {
  const pages: number[] = [];
  const deceptive: TextRange[] = [];
  const texts: string[] = [];
  let hidden = 0;
  let at = 0;
  for (const page of raw) {
    const clean = cleanDocument(page);
    pages.push(at);
    texts.push(clean.text);
    hidden += clean.hidden;
    for (const { start, end } of clean.deceptive) deceptive.push({ start: start + at, end: end + at });
    at += clean.text.length + 1;
  }
  return { text: texts.join("\n"), headings: [], pages, hasLines: false, hidden, deceptive };
}

/** A word with what stands before it by hyphens, the hyphen at the end of the line, and the rest of it. */
const BROKEN =
  /(?<!\p{L})((?:\p{L}{1,40}-){0,5})(\p{L}{1,40})([-\u2010\u00ad])[ \t]{0,3}\n[ \t]{0,3}(\p{L}{1,40})/gu;

/**
 * Joins the broken words of `pages`. The hyphen stays before a capital, in `state-of-the-art`, and where the document
 * writes the word with it, or both halves as words of their own, and not the whole without it.
 */
export function joinHyphens(pages: readonly string[]): string[] {
  const whole = pages.join("\n").replaceAll(BROKEN, " ");
  const words = new Set(whole.toLowerCase().match(/\p{L}+(?:[-\u2010]\p{L}+)*/gu));
  const knows = (word: string): boolean => words.has(word.toLowerCase());
  const staysHyphened = (first: string, rest: string): boolean =>
    !knows(first + rest) && (knows(`${first}-${rest}`) || (knows(first) && knows(rest)));
  return pages.map((page) =>
    page.replaceAll(BROKEN, (_all, before: string, first: string, hyphen: string, rest: string) => {
      const stays =
        hyphen !== "\u00ad" && (before !== "" || /^\p{Lu}/u.test(rest) || staysHyphened(first, rest));
      return `${before}${first}${stays ? "-" : ""}${rest}`;
    }),
  );
}
