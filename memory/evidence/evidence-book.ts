/** The evidence book: the one way to text that is found by similarity, cited, and never taken for a fact. */
import type { BaseStore, SearchItem } from "@langchain/langgraph-checkpoint";
import { toInstant, type Clock } from "#src/kernel/clock.ts";
import { rankTexts } from "#src/kernel/words.ts";
import { compareText, readItems } from "../facts/rows.ts";
import type { Who } from "../facts/types.ts";
import {
  assertOwner,
  DEFAULT_KB,
  kbNamespace,
  pieceNamespace,
  sourceNamespace,
  startsWithLabels,
  type EvidencePlace,
} from "../namespaces.ts";
import type { SecretScanner } from "../policy/secret-scanner.ts";
import {
  evidencePieceSchema,
  evidenceSourceSchema,
  versionOf,
  type EvidencePiece,
  type EvidenceSource,
} from "./evidence-item.ts";
import { ingest, type IngestOutcome } from "./ingest.ts";
import type { EvidenceFile } from "./read-document.ts";

/** A piece that was found, with its document. It is evidence: cited, and never a fact. */
export interface FoundEvidence {
  readonly source: EvidenceSource;
  readonly piece: EvidencePiece;
  /** Share of the best one of the same answer, which has 1. */
  readonly score: number;
  /** Its knowledge base, where that is not the default one. */
  readonly kb?: string;
}

/** Names a piece: its document, the version of that, and its place among the pieces. */
export interface PieceName {
  readonly sourceId: string;
  readonly version: string;
  readonly piece: number;
  /** Absent: the default one. */
  readonly kb?: string | undefined;
}

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
  /** Whether there is any document. */
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
  const placeOf = ({ owner }: Who, name = kb): EvidencePlace => {
    assertOwner(owner);
    return { owner, kb: name };
  };
  return {
    of: (name) => createEvidenceBook(store, deps, name),
    async kbs(who) {
      const { owner } = placeOf(who);
      const named = (await readItems(store, kbNamespace(owner))).map(({ key }) => key);
      const all = [DEFAULT_KB, ...named.toSorted()];
      const counts = await Promise.all(
        all.map(async (name) => (await readSources(store, placeOf(who, name))).length),
      );
      return all.filter((_name, at) => counts[at] !== 0);
    },
    async ingest(who, file) {
      const place = placeOf(who);
      const read = await ingest(deps, { who, kb, sources: await readSources(store, place) }, file);
      if (read.kind === "denied") return read;
      if (read.kind === "stored") await putSource(store, place, read);
      // Before anybody can mount it, and again where a crash came between.
      if (kb !== DEFAULT_KB) {
        const at = toInstant(Math.trunc(deps.clock.now()));
        await store.put(kbNamespace(place.owner), kb, { v: 1, at }, false);
      }
      return read;
    },
    sources: async (who) => readSources(store, placeOf(who)),
    hasAny: async (who) => (await readSources(store, placeOf(who))).length > 0,
    search: async (who, query, limit, kbs = [kb]) =>
      searchKbs(
        store,
        kbs.map((name) => placeOf(who, name)),
        { query, limit },
      ),
    pieces: async (who, names) => readPieces(store, placeOf(who).owner, names),
    async forget(who, sourceId) {
      const place = placeOf(who);
      const sources = await readSources(store, place);
      if (!sources.some(({ id }) => id === sourceId)) return false;
      await removePieces(store, place, { sourceId });
      await store.delete(sourceNamespace(place), sourceId);
      if (kb !== DEFAULT_KB && sources.length === 1) await store.delete(kbNamespace(place.owner), kb);
      return true;
    },
  };
}

/** The documents of a knowledge base, newest first. */
async function readSources(store: BaseStore, at: EvidencePlace): Promise<EvidenceSource[]> {
  const items = await readItems(store, sourceNamespace(at));
  const sources = items.flatMap(({ key, value }): EvidenceSource[] => {
    const parsed = evidenceSourceSchema.safeParse(value);
    return parsed.success && parsed.data.id === key ? [parsed.data] : [];
  });
  return sources.sort((a, b) => compareText(b.ingested_at, a.ingested_at) || compareText(a.path, b.path));
}

/** Items written or removed at once: one transaction where the store batches what comes in one tick. */
const GROUP = 200;
const PAGE = 50;

/** Writes a document and its pieces; it is there from the moment at which the document itself is written, last. */
async function putSource(
  store: BaseStore,
  at: EvidencePlace,
  { source, pieces }: { readonly source: EvidenceSource; readonly pieces: readonly EvidencePiece[] },
): Promise<void> {
  const namespace = pieceNamespace(at, source.id);
  await inGroups(pieces, (piece) =>
    store.put(namespace, keyOf(piece), evidencePieceSchema.parse(piece), ["text", "headings"]),
  );
  await store.put(sourceNamespace(at), source.id, evidenceSourceSchema.parse(source), false);
  await removePieces(store, at, { sourceId: source.id, but: versionOf(source) });
}

/** All pieces of a document, or all but those of one version; a crash may have left some that no read gives. */
async function removePieces(
  store: BaseStore,
  at: EvidencePlace,
  { sourceId, but }: { readonly sourceId: string; readonly but?: string },
): Promise<void> {
  const items = await readItems(store, pieceNamespace(at, sourceId));
  const removed = items.filter(({ key }) => but === undefined || !key.startsWith(`${but}-`));
  await inGroups(removed, (item) => store.delete(item.namespace, item.key));
}

async function inGroups<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < items.length; from += GROUP)
    await Promise.all(items.slice(from, from + GROUP).map(act));
}

/** A knowledge base with its documents, by id. */
interface Shelf {
  readonly kb: string;
  readonly prefix: readonly string[];
  readonly sources: ReadonlyMap<string, EvidenceSource>;
}

async function shelfOf(store: BaseStore, at: EvidencePlace): Promise<Shelf> {
  const sources = new Map((await readSources(store, at)).map((source) => [source.id, source]));
  return { kb: at.kb, prefix: pieceNamespace(at), sources };
}

/** The pieces of all these places that fit best; how good a match is depends on what else is stored, so it is told as a share. */
async function searchKbs(
  store: BaseStore,
  places: readonly EvidencePlace[],
  asked: { readonly query: string; readonly limit: number },
): Promise<FoundEvidence[]> {
  const found = await Promise.all(places.map((place) => searchPieces(store, place, asked)));
  const best = found.flat().sort((a, b) => b.score - a.score);
  const most = best[0]?.score || 1;
  return best.slice(0, asked.limit).map((one) => ({ ...one, score: one.score / most }));
}

/** The pieces that fit `query` best, at most `limit`. A store that does not rank by words has them ranked here. */
async function searchPieces(
  store: BaseStore,
  at: EvidencePlace,
  { query, limit }: { readonly query: string; readonly limit: number },
): Promise<FoundEvidence[]> {
  const shelf = await shelfOf(store, at);
  if (shelf.sources.size === 0 || query.trim() === "") return [];
  const found: FoundEvidence[] = [];
  for (let offset = 0; found.length < limit; offset += PAGE) {
    const page = await store.search([...shelf.prefix], { query, limit: PAGE, offset });
    if (page.some((item) => item.score === undefined)) {
      const all = (await readItems(store, shelf.prefix)).flatMap((item) => foundIn(item, shelf));
      const ranked = rankTexts(all, query, ({ piece }) => [...piece.headings, piece.text].join("\n"));
      return ranked.slice(0, limit).map(({ item, score }) => ({ ...item, score }));
    }
    found.push(...page.flatMap((item) => foundIn(item, shelf)));
    if (page.length < PAGE) break;
  }
  return found.slice(0, limit);
}

/** The pieces of these names that are still of the present version of their document, in the same order. */
async function readPieces(
  store: BaseStore,
  owner: string,
  names: readonly PieceName[],
): Promise<FoundEvidence[]> {
  const shelves = new Map<string, Shelf>();
  for (const { kb = DEFAULT_KB } of names)
    if (!shelves.has(kb)) shelves.set(kb, await shelfOf(store, { owner, kb }));
  const found = names.map(async ({ kb = DEFAULT_KB, sourceId, version, piece: index }) => {
    const shelf = shelves.get(kb);
    const item = await store.get(pieceNamespace({ owner, kb }, sourceId), keyOf({ version, index }));
    return shelf === undefined || item === null ? [] : foundIn(item, shelf);
  });
  return (await Promise.all(found)).flat();
}

/** A piece that lies where it says it belongs, of the present version of its document. */
function foundIn(
  { namespace, key, value, score = 0 }: Pick<SearchItem, "namespace" | "key" | "value" | "score">,
  { kb, prefix, sources }: Shelf,
): FoundEvidence[] {
  const parsed = evidencePieceSchema.safeParse(value);
  if (!parsed.success || !startsWithLabels(namespace, prefix)) return [];
  const piece = parsed.data;
  const source = sources.get(piece.source_id);
  const isHome =
    namespace.length === prefix.length + 1 && namespace.at(-1) === piece.source_id && key === keyOf(piece);
  if (source === undefined || !isHome || piece.version !== versionOf(source)) return [];
  return [{ source, piece, score, ...(kb === DEFAULT_KB ? {} : { kb }) }];
}

function keyOf({ version, index }: Pick<EvidencePiece, "version" | "index">): string {
  return `${version}-${String(index).padStart(5, "0")}`;
}
