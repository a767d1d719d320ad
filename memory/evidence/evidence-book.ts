/** The evidence book: the one way to text that is found by similarity, cited, and never taken for a fact. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { toInstant, type Clock } from "#src/kernel/clock.ts";
import { readItems } from "../facts/rows.ts";
import type { Who } from "../facts/types.ts";
import { assertOwner, DEFAULT_KB, kbNamespace, type EvidencePlace } from "../namespaces.ts";
import type { SecretScanner } from "../policy/secret-scanner.ts";
import type { EvidenceSource } from "./evidence-item.ts";
import {
  hasSources,
  readPieces,
  readSources,
  removeSource,
  searchPieces,
  shares,
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
  /** The same book for another knowledge base; this one is the default one's. */
  of(kb: string): EvidenceBook;
  /** Names of all knowledge bases that have a document, the default one first. */
  kbs(who: Who): Promise<string[]>;
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
  /** The pieces that fit `query` best; of these knowledge bases, where they are named. */
  search(who: Who, query: string, limit: number, kbs?: readonly string[]): Promise<FoundEvidence[]>;
  /** The pieces of these names that are still there, of whatever knowledge base, in the same order. */
  pieces(who: Who, names: readonly PieceName[]): Promise<FoundEvidence[]>;
  /** Removes a document with all its pieces. @returns false when the owner has none with this full id */
  forget(who: Who, sourceId: string): Promise<boolean>;
}

/** The evidence book on `store`, which may be any LangGraph store, also the one a graph node is given. */
export function createEvidenceBook(
  store: BaseStore,
  deps: { readonly clock: Clock; readonly scan: SecretScanner },
  kb: string = DEFAULT_KB,
): EvidenceBook {
  const placeOf = ({ owner }: Who, name = kb) => {
    assertOwner(owner);
    return { owner, kb: name };
  };
  return {
    of: (name) => createEvidenceBook(store, deps, name),
    kbs: async (who) => filledKbs(store, placeOf(who).owner),
    async ingest(who, file) {
      const { owner } = placeOf(who);
      const outcome = await ingest({ store, ...deps }, { who, kb, file });
      // Before anybody can mount it, and again where a crash came between.
      if (kb !== DEFAULT_KB && outcome.kind !== "denied")
        await store.put(kbNamespace(owner), kb, { v: 1, at: toInstant(Math.trunc(deps.clock.now())) }, false);
      return outcome;
    },
    sources: async (who) => readSources(store, placeOf(who)),
    hasAny: async (who) => hasSources(store, placeOf(who)),
    search: async (who, query, limit, kbs = [kb]) =>
      searchKbs(
        store,
        kbs.map((name) => placeOf(who, name)),
        { query, limit },
      ),
    pieces: async (who, names) => readNamed(store, placeOf(who).owner, names),
    async forget(who, sourceId) {
      const place = placeOf(who);
      const sources = await readSources(store, place);
      if (!sources.some(({ id }) => id === sourceId)) return false;
      await removeSource(store, place, sourceId);
      if (kb !== DEFAULT_KB && sources.length === 1) await store.delete(kbNamespace(place.owner), kb);
      return true;
    },
  };
}

/** Those that have a document, the default one first. */
async function filledKbs(store: BaseStore, owner: string): Promise<string[]> {
  const named = (await readItems(store, kbNamespace(owner))).map(({ key }) => key);
  const all = [DEFAULT_KB, ...named.toSorted()];
  const filled = await Promise.all(all.map((kb) => hasSources(store, { owner, kb })));
  return all.filter((_kb, at) => filled[at] === true);
}

async function searchKbs(
  store: BaseStore,
  places: readonly EvidencePlace[],
  asked: { readonly query: string; readonly limit: number },
): Promise<FoundEvidence[]> {
  const found = places.map(async (place) =>
    (await searchPieces(store, place, asked)).map((one) => inKb(one, place.kb)),
  );
  const best = (await Promise.all(found)).flat().toSorted((a, b) => b.score - a.score);
  return shares(best.slice(0, asked.limit));
}

async function readNamed(
  store: BaseStore,
  owner: string,
  names: readonly PieceName[],
): Promise<FoundEvidence[]> {
  const kbOf = (name: PieceName): string => name.kb ?? DEFAULT_KB;
  const kbs = [...new Set(names.map(kbOf))].map(async (kb) => {
    const own = names.filter((name) => kbOf(name) === kb);
    return (await readPieces(store, { owner, kb }, own)).map((one) => inKb(one, kb));
  });
  const all = (await Promise.all(kbs)).flat();
  return names.flatMap(
    ({ kb, sourceId, version, piece: index }) =>
      all.find(
        ({ kb: of, piece }) =>
          of === kb && piece.source_id === sourceId && piece.version === version && piece.index === index,
      ) ?? [],
  );
}

function inKb(found: FoundEvidence, kb: string): FoundEvidence {
  return kb === DEFAULT_KB ? found : { ...found, kb };
}
