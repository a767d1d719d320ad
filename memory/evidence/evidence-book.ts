/** The evidence book: the one way to text that is found by similarity, cited, and never taken for a fact. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import type { Clock } from "#src/kernel/clock.ts";
import type { Who } from "../facts/types.ts";
import { assertOwner } from "../namespaces.ts";
import type { SecretScanner } from "../policy/secret-scanner.ts";
import type { EvidenceSource } from "./evidence-item.ts";
import {
  hasSources,
  readPieces,
  readSources,
  removeSource,
  searchPieces,
  type FoundEvidence,
  type PieceName,
} from "./evidence-rows.ts";
import { ingest, type IngestOutcome } from "./ingest.ts";
import type { EvidenceFile } from "./read-document.ts";

/**
 * Evidence of every owner. `who` comes from the run's own context; nothing in a text, a path or a tool's arguments
 * reaches another owner. Each call throws `memory_owner_missing` for an empty owner, and what the store throws.
 */
export interface EvidenceBook {
  /**
   * Takes a file in. The same bytes again change nothing; other bytes of the same path replace the older version.
   *
   * @throws {LilyError} `evidence_unreadable`, `file_too_large`; then nothing was stored
   */
  ingest(who: Who, file: EvidenceFile): Promise<IngestOutcome>;
  /** The documents, newest first. */
  sources(who: Who): Promise<EvidenceSource[]>;
  /** Whether there is any document: one cheap read. */
  hasAny(who: Who): Promise<boolean>;
  /** The pieces that fit `query` best. */
  search(who: Who, query: string, limit: number): Promise<FoundEvidence[]>;
  /** The pieces of these names that are still there, in the same order. */
  pieces(who: Who, names: readonly PieceName[]): Promise<FoundEvidence[]>;
  /** Removes a document with all its pieces. @returns false when the owner has none with this full id */
  forget(who: Who, sourceId: string): Promise<boolean>;
}

/** The evidence book on `store`, which may be any LangGraph store, also the one a graph node is given. */
export function createEvidenceBook(
  store: BaseStore,
  { clock, scan }: { readonly clock: Clock; readonly scan: SecretScanner },
): EvidenceBook {
  return {
    ingest: async (who, file) => {
      assertOwner(who.owner);
      return ingest({ store, clock, scan }, { who, file });
    },
    sources: async (who) => readSources(store, ownerOf(who)),
    hasAny: async (who) => hasSources(store, ownerOf(who)),
    search: async (who, query, limit) => searchPieces(store, ownerOf(who), { query, limit }),
    pieces: async (who, names) => readPieces(store, ownerOf(who), names),
    async forget(who, sourceId) {
      const owner = ownerOf(who);
      const isThere = (await readSources(store, owner)).some(({ id }) => id === sourceId);
      if (isThere) await removeSource(store, owner, sourceId);
      return isThere;
    },
  };
}

function ownerOf({ owner }: Who): string {
  assertOwner(owner);
  return owner;
}
