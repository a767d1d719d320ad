/** Counts what an erasure of a text has done, and makes the lines of its receipt. */
import type { ErasureDeps } from "./erasure-deps.ts";
import type { Traces } from "./find-traces.ts";
import { checkpointsNote, outsideLines, scrubLine } from "./outside-lines.ts";
import { erased, line, type PlaceName, type ReceiptLine } from "./receipt.ts";

/** What was done so far. */
export class TextTally {
  readonly #deps: ErasureDeps;
  turns = 0;
  records = 0;
  failures = 0;
  titles = 0;
  #threads = 0;
  #blobs = 0;
  #evidence = 0;
  #replies = 0;
  #commands = 0;
  #units = 0;
  #left: ReadonlySet<PlaceName> = new Set();

  constructor(deps: ErasureDeps) {
    this.#deps = deps;
  }

  /** Counts what is about to go with its turns, and what is gone when the round is over. */
  count({ turns, threads, blobs, evidence }: Traces): void {
    this.#threads += threads.length;
    this.#blobs += blobs.length;
    this.#evidence += evidence.length;
    this.#replies += turns.length;
    this.#commands += turns.filter(({ kind }) => kind === "command").length;
    this.#units += turns.reduce((sum, { units }) => sum + units, 0);
  }

  /** What was found now, and what of it can be erased: the rest waits for turns that run. */
  leave(found: Traces, open: Traces): void {
    const places: readonly [place: PlaceName, found: readonly unknown[], open: readonly unknown[]][] = [
      ["transcripts", found.turns, open.turns],
      ["failed turns", found.failures, open.failures],
      ["titles", found.titles, open.titles],
      ["checkpoints", found.threads, open.threads],
      ["memory", memoryOf(found), memoryOf(open)],
    ];
    this.#left = new Set(places.flatMap(([place, all, some]) => (some.length < all.length ? [place] : [])));
  }

  /** What was erased of a place, unless some of it waits. */
  #became(place: PlaceName, count: number, note?: string): ReceiptLine {
    if (!this.#left.has(place)) return erased(place, count, note);
    const done = count === 0 ? "" : `${count} erased, the rest `;
    const why = place === "memory" ? "stays until then, since its id is how you ask again" : "waits for it";
    return line(place, "unfinished", `${done}${why}`);
  }

  /** Of the turns: nothing can be said of those that wait. */
  #ofTurns(place: PlaceName, count: number): ReceiptLine {
    if (!this.#left.has("transcripts")) return erased(place, count);
    return line(
      place,
      "unfinished",
      count === 0 ? "with their turns" : `${count} erased, the rest with their turns`,
    );
  }

  /** The lines, once the files were written anew. `busy` are the keys that could not be erased from. */
  async lines(busy: readonly string[]): Promise<ReceiptLine[]> {
    const { storage } = this.#deps;
    const { turns, records, failures, titles } = this;
    const items = turns + records + this.#evidence;
    return [
      {
        place: "tombstone",
        outcome: "kept",
        why: "a mark that tells nothing keeps imports and tools from bringing it back",
      },
      this.#became("memory", records),
      erased("search index", items),
      storage.fillVectors === undefined ? erased("vectors", 0) : erased("vectors", records + this.#evidence),
      busy.length === 0
        ? erased("transcripts", turns, "whole turns; each left a mark")
        : line("transcripts", "unfinished", busyText(busy, turns)),
      this.#ofTurns("stored replies", this.#replies),
      this.#ofTurns("command text", this.#commands),
      this.#ofTurns("knowledge units", this.#units),
      erased("summaries", 0),
      line(
        "explanations",
        "kept",
        "they went with their turns; a turn that was given the fact names its id still: it leads nowhere, but whoever guesses the text could check it",
      ),
      this.#became("failed turns", failures),
      this.#became("titles", titles),
      erased("evidence", this.#evidence),
      this.#became("checkpoints", this.#threads, checkpointsNote(storage)),
      erased("blobs", this.#blobs),
      line("deliveries", "kept", "ids alone, so that nothing is answered twice"),
      line("stop requests", "kept", "ids alone"),
      line("locks", "kept", "names of conversations alone"),
      line("session index", "kept", "ids and names of conversations alone"),
      erased("pending jobs", 0),
      await scrubLine(storage),
      ...outsideLines(storage),
    ];
  }
}

function memoryOf({ memory: { records, unreadable } }: Traces): readonly unknown[] {
  return [...records, ...unreadable];
}

function busyText(busy: readonly string[], turns: number): string {
  const names = busy.map((key) => JSON.stringify(key)).join(", ");
  const done = turns === 0 ? "" : `${turns} erased, but `;
  return `${done}a turn is running on ${names}; erase the same again when it has ended`;
}
