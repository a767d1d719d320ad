/** PDF to text, page by page. */
import type { getDocumentProxy } from "unpdf";
import { z } from "zod";
import { cleanDocument } from "./clean-document.ts";
import type { EvidenceDocument } from "./evidence-document.ts";
import { MAX_PAGES, MAX_TEXT_CHARACTERS } from "./limits.ts";
import { tooMuch, unreadable } from "./unreadable.ts";

type Pdf = Awaited<ReturnType<typeof getDocumentProxy>>;

const infoSchema = z.object({ info: z.object({ Title: z.string() }) });

const contentSchema = z.object({
  items: z.array(z.object({ str: z.string().default(""), hasEOL: z.boolean().default(false) })),
});

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
    const raw = await pagesOf(pdf, name);
    const title = infoSchema.safeParse(await pdf.getMetadata().catch(() => undefined));
    return { ...joined(raw), type: "pdf", title: title.success ? title.data.info.Title : null };
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

async function pagesOf(pdf: Pdf, name: string): Promise<string[]> {
  if (pdf.numPages > MAX_PAGES) throw tooMuch(name, `has ${pdf.numPages} pages; ${MAX_PAGES} can be read`);
  const pages: string[] = [];
  let characters = 0;
  for (let number = 1; number <= pdf.numPages; number += 1) {
    const text = await textOf(pdf, number, name);
    characters += text.length;
    if (characters > MAX_TEXT_CHARACTERS)
      throw tooMuch(name, `holds more than ${MAX_TEXT_CHARACTERS} characters of text`);
    pages.push(text);
  }
  if (pages.every((page) => !/[\p{L}\p{N}]/u.test(page)))
    throw unreadable(name, "holds pictures and no text", "Run a text recognition over it first.");
  return pages;
}

async function textOf(pdf: Pdf, number: number, name: string): Promise<string> {
  try {
    const page = await pdf.getPage(number);
    const { items } = contentSchema.parse(await page.getTextContent());
    page.cleanup();
    return items.map(({ str, hasEOL }) => (hasEOL ? `${str}\n` : str)).join("");
  } catch {
    throw unreadable(
      name,
      `is a damaged PDF: page ${number} cannot be read`,
      "Open it, and save it as PDF or text.",
    );
  }
}

function joined(raw: readonly string[]): Omit<EvidenceDocument, "type" | "title"> {
  const pages: number[] = [];
  const text: string[] = [];
  const deceptive: { start: number; end: number }[] = [];
  let hidden = 0;
  let at = 0;
  for (const page of raw) {
    const clean = cleanDocument(page);
    const offset = at;
    pages.push(offset);
    text.push(clean.text);
    hidden += clean.hidden;
    deceptive.push(
      ...clean.deceptive.map(({ start, end }) => ({ start: start + offset, end: end + offset })),
    );
    at += clean.text.length + 1;
  }
  return { text: text.join("\n"), headings: [], pages, hasLines: false, hidden, deceptive };
}
