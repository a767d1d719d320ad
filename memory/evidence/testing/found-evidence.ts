/** A found passage for tests; all that is not given is plain. */
import type { EvidencePiece, EvidenceSource } from "../evidence-item.ts";
import type { FoundEvidence } from "../evidence-book.ts";

const SHA256 = "ab".repeat(32);

/** A passage of `/home/ada/guide.md`, lines 3 to 5. */
export function foundEvidence(
  piece: Partial<EvidencePiece>,
  source: Partial<EvidenceSource> = {},
): FoundEvidence {
  const id = source.id ?? "11111111-1111-4111-8111-111111111111";
  return {
    score: 1,
    source: {
      schema_version: 1,
      canonical: false,
      id,
      path: "/home/ada/guide.md",
      title: "Guide",
      type: "markdown",
      sha256: SHA256,
      bytes: 100,
      pages: null,
      pieces: 1,
      left_out: {},
      warned: 0,
      hidden: 0,
      ingested_at: "2026-02-03T10:15:00.000Z",
      session_id: null,
      turn: null,
      ...source,
    },
    piece: {
      schema_version: 1,
      canonical: false,
      source_id: id,
      version: SHA256.slice(0, 16),
      index: 0,
      text: "A passage.",
      headings: [],
      page: null,
      lines: { from: 3, to: 5 },
      warning: null,
      ...piece,
    },
  };
}
