/** Reads a file as a document, by what it begins with, then by its name. */
import { basename } from "node:path";
import {
  cleanDocument,
  type EvidenceDocument,
  MAX_FILE_BYTES,
  MAX_TEXT_CHARACTERS,
  textIn,
  tooMuch,
  unreadable,
  markdownHeadings,
} from "./evidence-document.ts";
import type { DocumentType } from "./evidence-item.ts";
import { readHtml } from "./read-html.ts";
import { readPdf } from "./read-pdf.ts";

/** A file that was given. */
export interface EvidenceFile {
  /** Full path, by which it is known again. */
  readonly path: string;
  readonly bytes: Uint8Array;
  /** It was made of a session of Lily's, as Markdown. */
  readonly isConversation?: boolean;
}

/**
 * Reads `file`. Nothing of it is kept when it fails.
 *
 * @throws {LilyError} `evidence_unreadable`, `file_too_large`
 */
export async function readDocument({
  path,
  bytes,
  isConversation = false,
}: EvidenceFile): Promise<EvidenceDocument> {
  const name = basename(path);
  if (bytes.length > MAX_FILE_BYTES) throw tooMuch(name, `is larger than ${MAX_FILE_BYTES / 1_000_000} MB`);
  if (bytes.length === 0) throw unreadable(name, "is empty", "Give a file with text.");
  const type = isConversation ? "conversation" : detectType(bytes, name);
  const document = await readAs(type, bytes, name);
  if (!/[\p{L}\p{N}]/u.test(document.text)) throw unreadable(name, "holds no text", "Give a file with text.");
  if (document.text.length > MAX_TEXT_CHARACTERS)
    throw tooMuch(name, `holds more than ${MAX_TEXT_CHARACTERS} characters of text`);
  return document;
}

async function readAs(type: DocumentType, bytes: Uint8Array, name: string): Promise<EvidenceDocument> {
  if (type === "pdf") return readPdf(bytes, name);
  return type === "html" ? readHtml(bytes, name) : plainDocument(textIn(bytes, name), type);
}

/** The document of a text whose lines can be cited. */
function plainDocument(raw: string, type: Exclude<DocumentType, "html" | "pdf">): EvidenceDocument {
  const clean = cleanDocument(raw);
  const headings = type === "text" ? [] : markdownHeadings(clean.text);
  const title = headings.find(({ level }) => level === 1)?.text ?? headings[0]?.text ?? null;
  return { ...clean, type, title, headings, pages: [], sideBySide: [], hasLines: type !== "conversation" };
}

/** Beginnings of files that hold text which cannot be read here, or none. */
const OTHERS: readonly (readonly [begin: string, what: string])[] = [
  ["PK\u0003\u0004", "is a Word, Excel, OpenDocument, EPUB or ZIP file"],
  ["\u00d0\u00cf\u0011\u00e0", "is an old Word or Excel file"],
  ["{\\rtf", "is an RTF file"],
  ["\u0089PNG", "is a picture"],
  ["\u00ff\u00d8\u00ff", "is a picture"],
  ["GIF8", "is a picture"],
  ["\u001f\u008b", "is compressed"],
];

const HTML =
  /^(?:\u00ef\u00bb\u00bf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]{0,500}?-->\s*)?<(?:!doctype\s+html|html)\b/iu;

function detectType(bytes: Uint8Array, name: string): Exclude<DocumentType, "conversation"> {
  const head = Buffer.from(bytes.subarray(0, 1_024)).toString("latin1");
  const extension = /\.([a-z0-9]+)$/iu.exec(name)?.[1]?.toLowerCase() ?? "";
  // Some writers put a few bytes in front of the mark.
  if (head.startsWith("%PDF-") || (extension === "pdf" && head.includes("%PDF-"))) return "pdf";
  if (extension === "pdf")
    throw unreadable(name, "is called .pdf and is none", "Open it, and save it as PDF or text.");
  const other = OTHERS.find(([begin]) => head.startsWith(begin));
  if (other !== undefined) throw unreadable(name, other[1], "Save it as PDF, HTML, Markdown or text.");
  if (["md", "markdown", "mdown", "mkd", "mdx"].includes(extension)) return "markdown";
  return ["html", "htm", "xhtml"].includes(extension) || HTML.test(head) ? "html" : "text";
}
