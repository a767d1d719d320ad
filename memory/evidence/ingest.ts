/** Takes a document in: read, cut, judged, and written as a whole or not at all. */
import { createHash } from "node:crypto";
import { basename } from "node:path";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { toInstant, type Clock } from "#src/kernel/clock.ts";
import { deriveUuid } from "#src/kernel/ids.ts";
import { sliceWhole } from "#src/kernel/text.ts";
import type { Who } from "../facts/types.ts";
import { cleanHidden } from "../policy/hidden-text.ts";
import type { SecretScanner } from "../policy/secret-scanner.ts";
import type { EvidenceDocument } from "./evidence-document.ts";
import { versionOf, type EvidenceSource } from "./evidence-item.ts";
import { putSource, readSources } from "./evidence-rows.ts";
import { judgePieces, type JudgedPieces, type LeftOutPiece } from "./judge-pieces.ts";
import { MAX_PIECES, tooMuch } from "./limits.ts";
import { readDocument, type EvidenceFile } from "./read-document.ts";
import { splitDocument } from "./split-document.ts";

/** What came of a document. */
export type IngestOutcome =
  | {
      readonly kind: "stored";
      readonly source: EvidenceSource;
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

/** What ingesting works with. */
export interface IngestDeps {
  readonly store: BaseStore;
  readonly clock: Clock;
  readonly scan: SecretScanner;
}

const MAX_TITLE_CHARACTERS = 200;

/**
 * Takes `file` in.
 *
 * @throws {LilyError} `evidence_unreadable`, `file_too_large`; then nothing was stored
 */
export async function ingest(
  { store, clock, scan }: IngestDeps,
  { who, kb, file }: { readonly who: Who; readonly kb: string; readonly file: EvidenceFile },
): Promise<IngestOutcome> {
  const sha256 = createHash("sha256").update(file.bytes).digest("hex");
  const { owner } = who;
  const sources = await readSources(store, { owner, kb });
  const id = deriveUuid("evidence", owner, kb, file.path);
  const replaced = sources.find((source) => source.id === id) ?? null;
  const known = replaced ?? sources.find((source) => source.sha256 === sha256);
  if (known?.sha256 === sha256) return { kind: "known", source: known };

  const document = await readDocument(file);
  const ranges = await splitDocument(document);
  if (ranges.length > MAX_PIECES) throw tooMuch(basename(file.path), `makes more than ${MAX_PIECES} pieces`);
  const judged = await judgePieces(document, ranges, scan);
  if (judged.kept.length === 0) return { kind: "denied", leftOut: judged.leftOut };
  const source: EvidenceSource = {
    ...described(document, judged, file),
    id,
    sha256,
    ingested_at: toInstant(Math.trunc(clock.now())),
    session_id: who.sessionId ?? null,
    turn: who.turn ?? null,
  };
  const pieces = judged.kept.map((piece) => ({
    schema_version: 1 as const,
    canonical: false as const,
    source_id: id,
    version: versionOf(source),
    ...piece,
    headings: [...piece.headings],
  }));
  await putSource(store, { owner, kb }, { source, pieces });
  return { kind: "stored", source, replaced, leftOut: judged.leftOut, sideBySide: document.sideBySide };
}

type Described = Omit<EvidenceSource, "id" | "sha256" | "ingested_at" | "session_id" | "turn">;

function described(
  document: EvidenceDocument,
  judged: JudgedPieces,
  { path, bytes }: EvidenceFile,
): Described {
  const title = judged.isTitleKept ? oneLine(document.title ?? "") : "";
  const left: EvidenceSource["left_out"] = {};
  for (const { rule } of judged.leftOut) left[rule] = (left[rule] ?? 0) + 1;
  return {
    schema_version: 1,
    canonical: false,
    path,
    title: title === "" ? oneLine(basename(path)) : title,
    type: document.type,
    bytes: bytes.length,
    pages: document.pages.length === 0 ? null : document.pages.length,
    pieces: judged.kept.length,
    left_out: left,
    warned: judged.kept.filter(({ warning }) => warning !== null).length,
    hidden: document.hidden,
  };
}

function oneLine(text: string): string {
  const line = cleanHidden(text).text.normalize("NFC").replaceAll(/\s+/gu, " ").trim();
  return sliceWhole(line, 0, MAX_TITLE_CHARACTERS);
}
