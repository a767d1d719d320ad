/** What is stored of a document that was given as evidence: the document, and its pieces with their places in it, also in words. */
import { basename } from "node:path";
import { z } from "zod";
import { POLICY_RULE_NAMES } from "../policy/verdict.ts";
import { instantSchema, shortId } from "../record.ts";

/** What a document was read as. */
export const DOCUMENT_TYPES = ["text", "markdown", "html", "pdf", "conversation"] as const;
export type DocumentType = (typeof DOCUMENT_TYPES)[number];

const rangeSchema = z.strictObject({ from: z.int().positive(), to: z.int().positive() });

export const evidencePieceSchema = z.strictObject({
  schema_version: z.literal(1),
  /** Evidence is cited and never a fact. */
  canonical: z.literal(false),
  source_id: z.uuid(),
  /** Version of the document: the beginning of its hash. A piece of another version than the document's is not read. */
  version: z.string().min(1),
  /** Place among the pieces, from 0; what was left out leaves a gap. */
  index: z.int().nonnegative(),
  text: z.string().min(1),
  /** Headings above it, outermost first. */
  headings: z.array(z.string()),
  page: z.int().positive().nullable(),
  lines: rangeSchema.nullable(),
  /** The rule that a reader is warned by: it reads like an instruction, or hid something. */
  warning: z.enum(POLICY_RULE_NAMES).nullable(),
});

/** A piece of a document, small enough to be cited whole. */
export type EvidencePiece = z.infer<typeof evidencePieceSchema>;

export const evidenceSourceSchema = z.strictObject({
  schema_version: z.literal(1),
  canonical: z.literal(false),
  /** Derived from owner and path: a changed file takes the place of its older version. */
  id: z.uuid(),
  /** Full path of the file, or the reference of what it was made of. */
  path: z.string().min(1),
  title: z.string().min(1),
  type: z.enum(DOCUMENT_TYPES),
  /** Of the bytes as they came, hexadecimal. */
  sha256: z.string().length(64),
  bytes: z.int().nonnegative(),
  pages: z.int().positive().nullable(),
  /** Pieces that were stored. */
  pieces: z.int().positive(),
  /** Pieces that were left out, by the rule that refused them. */
  left_out: z.partialRecord(z.enum(POLICY_RULE_NAMES), z.int().positive()),
  /** Pieces with a warning. */
  warned: z.int().nonnegative(),
  /** Characters that a reader cannot see and that were removed. */
  hidden: z.int().nonnegative(),
  ingested_at: instantSchema,
  session_id: z.string().nullable(),
  turn: z.int().nonnegative().nullable(),
});

/** A document that was given as evidence. */
export type EvidenceSource = z.infer<typeof evidenceSourceSchema>;

/** The version of a document by which its pieces are known. */
export function versionOf({ sha256 }: Pick<EvidenceSource, "sha256">): string {
  return sha256.slice(0, 16);
}

/** Shown wherever evidence is shown. */
export const EVIDENCE_LABEL = "evidence, not a fact Lily vouches for";

/** E.g. `report.pdf, page 3`, `notes.md › Refunds › Deadlines, lines 12–18`. */
export function citationOf({
  source,
  piece,
}: {
  readonly source: EvidenceSource;
  readonly piece: EvidencePiece;
}): string {
  const headings = piece.headings.map((heading) => ` › ${heading}`).join("");
  return `${nameOf(source)}${headings}, ${pieceText(piece)}`;
}

/** The name of a document's file without its folder. */
export function nameOf({ type, path }: Pick<EvidenceSource, "type" | "path">): string {
  return type === "conversation" ? `session ${shortId(path.replace("session:", ""))}` : basename(path);
}

/** The place of a piece in its document, e.g. `lines 12–18`. */
export function pieceText({ page, lines, index }: Pick<EvidencePiece, "page" | "lines" | "index">): string {
  if (page !== null) return `page ${page}`;
  if (lines === null) return `part ${index + 1}`;
  return lines.from === lines.to ? `line ${lines.from}` : `lines ${lines.from}–${lines.to}`;
}
