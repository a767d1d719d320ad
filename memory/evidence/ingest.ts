/** Takes a document in: read, cut and judged piece by piece by the policy gate. It writes nothing. */
import { createHash } from "node:crypto";
import { basename } from "node:path";
import { toInstant, type Clock } from "#src/kernel/clock.ts";
import { deriveUuid } from "#src/kernel/ids.ts";
import { sliceWhole } from "#src/kernel/text.ts";
import type { Who } from "../facts/types.ts";
import { cleanHidden } from "../policy/check-text.ts";
import { findDisguised, findShown, namedRule } from "../policy/find-secrets.ts";
import type { SecretScanner } from "../policy/secret-scanner.ts";
import type { Finding, PolicyRule } from "../policy/verdict.ts";
import { MAX_PIECES, overlaps, tooMuch, type EvidenceDocument } from "./evidence-document.ts";
import { versionOf, type EvidencePiece, type EvidenceSource } from "./evidence-item.ts";
import { readDocument, type EvidenceFile } from "./read-document.ts";
import { splitDocument, type PieceRange } from "./split-document.ts";

/** A piece that may not be kept, by its place alone. */
export interface LeftOutPiece extends Pick<EvidencePiece, "index" | "page" | "lines"> {
  readonly rule: PolicyRule;
}

/** What came of a document. */
export type IngestOutcome =
  | {
      readonly kind: "stored";
      readonly source: EvidenceSource;
      readonly pieces: readonly EvidencePiece[];
      /** The older version that it took the place of. */
      readonly replaced: EvidenceSource | null;
      readonly leftOut: readonly LeftOutPiece[];
      /** Pages on which text stands side by side: columns may have been read across. */
      readonly sideBySide: readonly number[];
    }
  /** The same bytes are kept already, perhaps under another path. */
  | { readonly kind: "known"; readonly source: EvidenceSource }
  /** Every piece was refused; what was there before stays. */
  | { readonly kind: "denied"; readonly leftOut: readonly LeftOutPiece[] };

const MAX_TITLE_CHARACTERS = 200;

/**
 * What `file` comes to in a knowledge base that holds `sources`; `stored` is still to be put.
 *
 * @throws {LilyError} `evidence_unreadable`, `file_too_large`
 */
export async function ingest(
  { clock, scan }: { readonly clock: Clock; readonly scan: SecretScanner },
  {
    who,
    kb,
    sources,
  }: { readonly who: Who; readonly kb: string; readonly sources: readonly EvidenceSource[] },
  file: EvidenceFile,
): Promise<IngestOutcome> {
  const { path, bytes } = file;
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  const id = deriveUuid("evidence", who.owner, kb, path);
  const replaced = sources.find((source) => source.id === id) ?? null;
  const known = replaced ?? sources.find((source) => source.sha256 === sha256);
  if (known?.sha256 === sha256) return { kind: "known", source: known };

  const document = await readDocument(file);
  const ranges = await splitDocument(document);
  if (ranges.length > MAX_PIECES) throw tooMuch(basename(path), `makes more than ${MAX_PIECES} pieces`);
  const { kept, leftOut } = await judgePieces(document, ranges, scan);
  if (kept.length === 0) return { kind: "denied", leftOut };
  const left: EvidenceSource["left_out"] = {};
  for (const { rule } of leftOut) left[rule] = (left[rule] ?? 0) + 1;
  const source: EvidenceSource = {
    schema_version: 1,
    canonical: false,
    id,
    path,
    title: (await titleOf(document, scan)) || oneLine(basename(path)),
    type: document.type,
    sha256,
    bytes: bytes.length,
    pages: document.pages.length === 0 ? null : document.pages.length,
    pieces: kept.length,
    left_out: left,
    warned: kept.filter(({ warning }) => warning !== null).length,
    hidden: document.hidden,
    ingested_at: toInstant(Math.trunc(clock.now())),
    session_id: who.sessionId ?? null,
    turn: who.turn ?? null,
  };
  const of = { schema_version: 1, canonical: false, source_id: id, version: versionOf(source) } as const;
  const pieces = kept.map((piece) => ({ ...of, ...piece }));
  return { kind: "stored", source, pieces, replaced, leftOut, sideBySide: document.sideBySide };
}

/** The title on one line; none where it holds a secret. */
async function titleOf({ title }: EvidenceDocument, scan: SecretScanner): Promise<string> {
  return title === null || (await findSensitive(title, scan)).length > 0 ? "" : oneLine(title);
}

function oneLine(text: string): string {
  const line = cleanHidden(text).text.normalize("NFC").replaceAll(/\s+/gu, " ").trim();
  return sliceWhole(line, 0, MAX_TITLE_CHARACTERS);
}

type KeptPiece = Pick<EvidencePiece, "index" | "text" | "headings" | "page" | "lines" | "warning">;

/** In place of a heading that holds a secret. */
const LEFT_OUT = "…";

/**
 * Judges the pieces. The document is searched as a whole, because a secret may reach from one piece into the next. Text
 * that hid something is kept with a warning: it is cited, never obeyed.
 */
async function judgePieces(
  document: EvidenceDocument,
  pieces: readonly PieceRange[],
  scan: SecretScanner,
): Promise<{ readonly kept: readonly KeptPiece[]; readonly leftOut: readonly LeftOutPiece[] }> {
  const findings = await findSensitive(document.text, scan);
  const kept: KeptPiece[] = [];
  const leftOut: LeftOutPiece[] = [];
  for (const [index, piece] of pieces.entries()) {
    const text = textOf(document, piece, findings);
    const { page, lines } = piece;
    const inPiece = findings.filter((found) => overlaps(found, piece));
    const rule = inPiece.length > 0 ? namedRule(inPiece) : await findDisguised(text, scan);
    if (rule !== undefined) {
      leftOut.push({ index, page, lines, rule });
      continue;
    }
    // The line of a heading may hold marks beside its text.
    const headings = piece.headings.map(({ at, text: heading }) => {
      const line = { start: at, end: at + heading.length + 8 };
      return findings.some((found) => overlaps(found, line)) ? LEFT_OUT : heading;
    });
    const isDeceptive = document.deceptive.some((range) => overlaps(range, piece));
    kept.push({ index, text, headings, page, lines, warning: isDeceptive ? "hidden_text" : null });
  }
  return { kept, leftOut };
}

/** The text of a piece, below the header of its table unless that holds what may not be kept. */
function textOf(
  { text }: EvidenceDocument,
  { start, end, header }: PieceRange,
  findings: readonly Finding[],
): string {
  const body = text.slice(start, end);
  if (header === null || findings.some((found) => overlaps(found, header))) return body;
  return `${text.slice(header.start, header.end)}\n${body}`;
}

/** Small, because some rules compare every word of a part with every other. */
const PART_CHARACTERS = 16_000;
/** Longer than a private key: one that begins in a part ends in it, or stands whole in the next. */
const OVERLAP_CHARACTERS = 4_000;

/** Secrets and sensitive numbers in a long text, by parts that overlap. One that stands in two parts is found twice. */
async function findSensitive(text: string, scan: SecretScanner): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (let from = 0, end = 0; end < text.length;) {
    end = Math.min(text.length, from + PART_CHARACTERS);
    for (const found of await findShown(text.slice(from, end), scan))
      findings.push({ ...found, start: found.start + from, end: found.end + from });
    // The next part begins where a line does, if there are lines.
    const feed = text.lastIndexOf("\n", end - OVERLAP_CHARACTERS);
    from = feed > from ? feed + 1 : end - OVERLAP_CHARACTERS;
  }
  return findings;
}
