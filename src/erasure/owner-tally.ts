/** Counts what of a person was erased, and makes the lines of the receipt. */
import type { ErasureDeps } from "./erasure-deps.ts";
import { outsideLines, scrubLine } from "./outside-lines.ts";
import { erased, line, type PlaceName, type ReceiptLine } from "./receipt.ts";

/** The place whose items lie under a root; what a root of another version holds counts as memory. */
export function placeOf([root, kind]: readonly string[]): PlaceName {
  switch (root) {
    case "sessions":
      return "titles";
    case "history":
      return "transcripts";
    case "deliveries":
      return "deliveries";
    case "explanations":
      return "failed turns";
    case "stop-requests":
      return "stop requests";
    case "blobs":
    case "snapshots":
      return "blobs";
    case "evidence":
      return "evidence";
    default:
      return kind === "tombstones" ? "tombstone" : "memory";
  }
}

/** What was done so far. */
export class OwnerTally {
  readonly #deps: ErasureDeps;
  readonly #owner: string;
  readonly #counts = new Map<PlaceName, number>();
  threads = 0;
  indexed = 0;
  locks = 0;

  constructor(deps: ErasureDeps, owner: string) {
    this.#deps = deps;
    this.#owner = owner;
  }

  /** Items of a namespace are gone. */
  count(namespace: readonly string[], items: number): void {
    const place = placeOf(namespace);
    this.#counts.set(place, (this.#counts.get(place) ?? 0) + items);
  }

  /** The lines, once the files were written anew. */
  async lines(): Promise<ReceiptLine[]> {
    const { storage, apiKeys } = this.#deps;
    const of = (place: PlaceName): number => this.#counts.get(place) ?? 0;
    const turns = of("transcripts");
    const keys = apiKeys?.(this.#owner) ?? 0;
    const withVectors = of("memory") + of("evidence");
    return [
      erased("tombstone", of("tombstone")),
      erased("memory", of("memory")),
      erased("search index", turns + withVectors),
      erased("vectors", storage.fillVectors === undefined ? 0 : withVectors),
      erased("transcripts", turns),
      erased("stored replies", turns),
      erased("command text", turns, "with their turns"),
      erased("knowledge units", turns, "with their turns"),
      erased("summaries", this.threads, "with the checkpoints"),
      erased("explanations", turns, "with their turns"),
      erased("failed turns", of("failed turns")),
      erased("titles", of("titles"), "chains, with everything that stood in them"),
      erased("evidence", of("evidence")),
      erased("checkpoints", this.threads, "sessions"),
      erased("blobs", of("blobs")),
      erased("deliveries", of("deliveries")),
      erased("stop requests", of("stop requests")),
      erased("locks", this.locks),
      erased("session index", this.indexed),
      erased("pending jobs", 0),
      keys === 0
        ? erased("API keys", 0)
        : line("API keys", "kept", `${keys} still open an empty account; lily keys revoke takes them back`),
      await scrubLine(storage),
      ...outsideLines(storage),
    ];
  }
}
