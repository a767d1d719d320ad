/** Where evidence lies in the Store: below one prefix an owner and collection, documents apart from their pieces. */
import { encodeLabel } from "#src/kernel/namespace-label.ts";

/** The collection that is meant where none is named. */
export const DEFAULT_COLLECTION = "default";

/** Whose evidence, and which collection of it. */
export interface EvidencePlace {
  readonly owner: string;
  readonly collection: string;
}

/** Everything of an owner in all collections. */
function evidencePrefix(owner: string): string[] {
  return ["evidence", encodeLabel(owner)];
}

/** The documents of a collection, one item each. */
export function sourceNamespace({ owner, collection }: EvidencePlace): string[] {
  return [...evidencePrefix(owner), encodeLabel(collection), "sources"];
}

/** The pieces of a collection, of all its documents. */
export function pieceNamespaces({ owner, collection }: EvidencePlace): string[] {
  return [...evidencePrefix(owner), encodeLabel(collection), "pieces"];
}

/** The pieces of one document. */
export function pieceNamespace(place: EvidencePlace, sourceId: string): string[] {
  return [...pieceNamespaces(place), sourceId];
}

/** What of an item in an evidence namespace a search may find: the text of a piece and the headings above it. */
export function evidenceIndexFields(namespace: readonly string[]): string[] | false {
  return namespace[3] === "pieces" ? ["text", "headings"] : false;
}
