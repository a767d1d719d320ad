/** The one way to evidence in a store: reads that drop what is another's or of an older version, and writes. */
import type { BaseStore, SearchItem } from "@langchain/langgraph-checkpoint";
import { rankTexts } from "#src/kernel/words.ts";
import { compareText, readItems } from "../facts/rows.ts";
import { pieceNamespace, sourceNamespace, startsWithLabels, type EvidencePlace } from "../namespaces.ts";
import {
  evidencePieceSchema,
  evidenceSourceSchema,
  versionOf,
  type EvidencePiece,
  type EvidenceSource,
} from "./evidence-item.ts";

/** A piece that was found, with its document. It is evidence: cited, and never a fact. */
export interface FoundEvidence {
  readonly canonical: false;
  readonly source: EvidenceSource;
  readonly piece: EvidencePiece;
  /** Share of the best one of the same answer, which has 1. */
  readonly score: number;
  /** Its knowledge base, where that is not the default one. */
  readonly kb?: string;
}

/** Items written or removed at once: one transaction where the store batches what comes in one tick. */
const GROUP = 200;
const PAGE = 50;

/** The documents of a knowledge base, newest first. */
export async function readSources(store: BaseStore, at: EvidencePlace): Promise<EvidenceSource[]> {
  const items = await readItems(store, sourceNamespace(at));
  const sources = items.flatMap(({ key, value }): EvidenceSource[] => {
    const parsed = evidenceSourceSchema.safeParse(value);
    return parsed.success && parsed.data.id === key ? [parsed.data] : [];
  });
  return sources.sort((a, b) => compareText(b.ingested_at, a.ingested_at) || compareText(a.path, b.path));
}

const FIRST = 10;

/** Whether a knowledge base has any document: one cheap read. */
export async function hasSources(store: BaseStore, at: EvidencePlace): Promise<boolean> {
  const namespace = sourceNamespace(at);
  const items = await store.search(namespace, { limit: FIRST });
  if (items.some((item) => startsWithLabels(item.namespace, namespace))) return true;
  // A lax store may have given those of others alone.
  return items.length === FIRST && (await readSources(store, at)).length > 0;
}

/** Writes a document and its pieces; it is there from the moment at which the document itself is written, last. */
export async function putSource(
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

/** Names a piece: its document, the version of that, and its place among the pieces. */
export interface PieceName {
  readonly sourceId: string;
  readonly version: string;
  readonly piece: number;
  /** Absent: the default one. */
  readonly kb?: string | undefined;
}

/** The pieces of these names that are still of the present version of their document, in the same order. */
export async function readPieces(
  store: BaseStore,
  at: EvidencePlace,
  names: readonly PieceName[],
): Promise<FoundEvidence[]> {
  if (names.length === 0) return [];
  const sources = new Map((await readSources(store, at)).map((source) => [source.id, source]));
  const prefix = pieceNamespace(at);
  const items = await Promise.all(
    names.map(({ sourceId, version, piece }) =>
      store.get(pieceNamespace(at, sourceId), keyOf({ version, index: piece })),
    ),
  );
  return items.flatMap((item) => (item === null || item === undefined ? [] : foundIn(item, prefix, sources)));
}

/** Removes the pieces of a document, and then the document. */
export async function removeSource(store: BaseStore, at: EvidencePlace, sourceId: string): Promise<void> {
  await removePieces(store, at, { sourceId });
  await store.delete(sourceNamespace(at), sourceId);
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

/** The pieces that fit `query` best, at most `limit`. A store that does not rank by words has them ranked here. */
export async function searchPieces(
  store: BaseStore,
  at: EvidencePlace,
  { query, limit }: { readonly query: string; readonly limit: number },
): Promise<FoundEvidence[]> {
  const sources = new Map((await readSources(store, at)).map((source) => [source.id, source]));
  if (sources.size === 0 || query.trim() === "") return [];
  const prefix = pieceNamespace(at);
  const found: FoundEvidence[] = [];
  for (let offset = 0; found.length < limit; offset += PAGE) {
    const page = await store.search(prefix, { query, limit: PAGE, offset });
    if (page.some((item) => item.score === undefined))
      return rankAll(store, prefix, { query, limit, sources });
    found.push(...page.flatMap((item) => foundIn(item, prefix, sources)));
    if (page.length < PAGE) break;
  }
  return found.slice(0, limit);
}

/** How good a match is depends on what else is stored, so only how it compares is told. */
export function shares(found: readonly FoundEvidence[]): FoundEvidence[] {
  const best = Math.max(...found.map(({ score }) => score));
  return best > 0 ? found.map((one) => ({ ...one, score: one.score / best })) : [...found];
}

type Sources = ReadonlyMap<string, EvidenceSource>;

async function rankAll(
  store: BaseStore,
  prefix: readonly string[],
  { query, limit, sources }: { readonly query: string; readonly limit: number; readonly sources: Sources },
): Promise<FoundEvidence[]> {
  const all = (await readItems(store, prefix)).flatMap((item) => foundIn(item, prefix, sources));
  const ranked = rankTexts(all, query, ({ piece }) => [...piece.headings, piece.text].join("\n"));
  return ranked.slice(0, limit).map(({ item, score }) => ({ ...item, score }));
}

/** A piece that lies where it says it belongs, of the present version of its document. */
function foundIn(
  { namespace, key, value, score = 0 }: Pick<SearchItem, "namespace" | "key" | "value" | "score">,
  prefix: readonly string[],
  sources: Sources,
): FoundEvidence[] {
  const parsed = evidencePieceSchema.safeParse(value);
  if (!parsed.success || !startsWithLabels(namespace, prefix)) return [];
  const piece = parsed.data;
  const source = sources.get(piece.source_id);
  const isHome =
    namespace.length === prefix.length + 1 && namespace.at(-1) === piece.source_id && key === keyOf(piece);
  if (source === undefined || !isHome || piece.version !== versionOf(source)) return [];
  return [{ canonical: false, source, piece, score }];
}

function keyOf({ version, index }: Pick<EvidencePiece, "version" | "index">): string {
  return `${version}-${String(index).padStart(5, "0")}`;
}

async function inGroups<T>(items: readonly T[], act: (item: T) => Promise<void>): Promise<void> {
  for (let from = 0; from < items.length; from += GROUP)
    await Promise.all(items.slice(from, from + GROUP).map(act));
}
