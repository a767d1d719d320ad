/** How much one document of evidence may be, and the errors for one that is too much or cannot be read. */
import { decodeText } from "#src/kernel/decode-text.ts";
import { LilyError } from "#src/kernel/errors.ts";

/** Bytes of a file: a long book, or a scanned paper with its text. */
export const MAX_FILE_BYTES = 10_000_000;

/** Characters of its text, which a compressed file may unfold to. */
export const MAX_TEXT_CHARACTERS = 5_000_000;

/** Pages of a PDF. */
export const MAX_PAGES = 5_000;

/** Pieces of a document: so many that a larger one is no document but data. */
export const MAX_PIECES = 10_000;

/** Tokens of a piece: a paragraph or a few, and three of them fit a prompt beside a conversation. */
export const MAX_PIECE_TOKENS = 400;

/** The error for a document that is none, or none that can be read here. Nothing of its content is repeated. */
export function unreadable(name: string, why: string, next: string): LilyError {
  return new LilyError("evidence_unreadable", `${name} ${why}`, { next: `${next} Nothing was stored.` });
}

/** The text of a document. @throws {LilyError} `evidence_unreadable` */
export function textIn(bytes: Uint8Array, name: string, declared?: string): string {
  const { text, problem, next } = decodeText(bytes, declared);
  if (text === undefined) throw unreadable(name, problem, next);
  return text;
}

/** The error for a document that is too much for one. */
export function tooMuch(name: string, what: string): LilyError {
  return new LilyError("file_too_large", `${name} ${what}`, {
    next: "Split it, and give the parts. Nothing was stored.",
  });
}
