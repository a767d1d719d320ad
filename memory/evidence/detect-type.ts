/** What kind of document bytes are: by what they begin with, then by the name of the file. */
import type { DocumentType } from "./evidence-item.ts";
import { unreadable } from "./unreadable.ts";

const HEAD_BYTES = 1_024;

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
  /^(?:\ufeff|\u00ef\u00bb\u00bf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--[\s\S]{0,500}?-->\s*)?<(?:!doctype\s+html|html)\b/iu;

/**
 * The kind of the document in `bytes`.
 *
 * @throws {LilyError} `evidence_unreadable` for kinds that are known and cannot be read
 */
export function detectType(bytes: Uint8Array, name: string): Exclude<DocumentType, "conversation"> {
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES)).toString("latin1");
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
