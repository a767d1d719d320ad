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
      next: "It does not come back by an import or by the model. Backups and what a model was sent are not reached.",
      data,
    });
  }
  const open = receipt.lines.flatMap((line) =>
    line.outcome === "unfinished" ? [`${line.place}: ${line.why}`] : [],
  );
  return refused("erasure_unfinished", `${what}. Not finished: ${open.join("; ")}`, {
    next: "Erase the same again: it goes on where it was.",
    data,
  });
}

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
