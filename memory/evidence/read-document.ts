/** Reads a file as a document, by what it is. */
import { basename } from "node:path";
import { cleanDocument } from "./clean-document.ts";
import { decodeText } from "./decode-text.ts";
import { detectType } from "./detect-type.ts";
import type { EvidenceDocument } from "./evidence-document.ts";
import type { DocumentType } from "./evidence-item.ts";
import { MAX_FILE_BYTES, MAX_TEXT_CHARACTERS } from "./limits.ts";
import { markdownHeadings } from "./markdown-headings.ts";
import { readHtml } from "./read-html.ts";
import { readPdf } from "./read-pdf.ts";
import { tooMuch, unreadable } from "./unreadable.ts";

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
  switch (type) {
    case "pdf":
      return readPdf(bytes, name);
    case "html":
      return readHtml(bytes, name);
    case "markdown":
    case "text":
    case "conversation":
      return plainDocument(decodeText(bytes, name), type);
  }
}

/** The document of a text whose lines can be cited. */
function plainDocument(raw: string, type: Exclude<DocumentType, "html" | "pdf">): EvidenceDocument {
  const { text, hidden, deceptive } = cleanDocument(raw);
  const headings = type === "text" ? [] : markdownHeadings(text);
  const title = headings.find(({ level }) => level === 1)?.text ?? headings[0]?.text ?? null;
  return { type, title, text, headings, pages: [], hasLines: type !== "conversation", hidden, deceptive };
}
