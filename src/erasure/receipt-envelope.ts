/** A receipt as the envelope that a person and a program are told. */
import { done, refused, type Envelope } from "#src/kernel/envelope.ts";
import type { PlaceName, Receipt } from "./receipt.ts";

/** The envelope; what was erased is counted, never named. */
export function receiptEnvelope(receipt: Receipt): Envelope {
  const data = { receipt };
  const gone = receipt.lines.flatMap((line) =>
    line.outcome === "erased" && TOLD.has(line.place) ? [`${line.place} (${line.count})`] : [],
  );
  const what = gone.length === 0 ? "Nothing was found that had to be erased" : `Erased: ${gone.join(", ")}`;
  if (receipt.finished) {
    return done("erased", `${what}. The receipt says what became of it in each place.`, {
      next: `${COMES_BACK[receipt.what]} Backups and what a model was sent are not reached.${inPartOf(receipt)}`,
      data,
    });
  }
  const open = receipt.lines.flatMap((line) =>
    line.outcome === "unfinished" && WAITED_FOR.has(line.place) ? [`${line.place}: ${line.why}`] : [],
  );
  return refused("erasure_unfinished", `${what}. Not finished: ${open.join("; ")}`, {
    next: nextOf(receipt),
    data,
  });
}

/** The marks of a person go with everything else. */
const COMES_BACK = {
  text: "It does not come back by an import or by the model.",
  person: "Nothing keeps an import from bringing it back.",
} as const;

/** An id leads nowhere once its fact is gone, and only the files are left. */
function nextOf({ lines, what }: Receipt): string {
  const hasFact = lines.some(({ place, outcome }) => place === "memory" && outcome === "unfinished");
  return what === "person" || hasFact
    ? "Erase the same again: it goes on where it was."
    : "Erase the same again by its words; the id of a fact that is gone leads nowhere.";
}

/** What a person may want to look at next. */
function inPartOf({ lines }: Receipt): string {
  const part = lines.find(({ place }) => place === "said in part");
  return part?.outcome === "kept" ? ` Kept: ${part.why}.` : "";
}

/** Places whose reasons a message gives; what waits in the others waits for these. */
const WAITED_FOR: ReadonlySet<PlaceName> = new Set([
  "transcripts",
  "memory",
  "input history",
  "database files",
]);

/** Places that a person thinks of; the others go along with these. */
const TOLD: ReadonlySet<PlaceName> = new Set([
  "memory",
  "transcripts",
  "failed turns",
  "titles",
  "evidence",
  "checkpoints",
  "blobs",
  "input history",
]);
