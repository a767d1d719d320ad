/** What an erasure says of the files themselves, and of places that it does not reach. */
import type { StorageBackend } from "#src/storage/backend.ts";
import { line, type ReceiptLine } from "./receipt.ts";

/** Writes the files anew, and tells of it. */
export async function scrubLine({ erasure }: Pick<StorageBackend, "erasure">): Promise<ReceiptLine> {
  if (erasure === undefined) return line("database files", "kept", "there are none");
  const report = await erasure.scrub();
  if (report.outcome === "done")
    return { place: "database files", outcome: "erased", count: report.files, note: "written anew" };
  const next = report.outcome === "unfinished" ? "; erase the same again when it is closed" : "";
  return line("database files", report.outcome, `${report.why}${next}`);
}

/** Places outside. */
export function outsideLines({ erasure, name }: Pick<StorageBackend, "erasure" | "name">): ReceiptLine[] {
  const log = erasure?.logKeeps;
  return [
    line(
      "exported files",
      "not_supported",
      "files that /memory export wrote are where you put them; delete them",
    ),
    line(
      "other programs",
      "not_supported",
      "a terminal or server that runs beside this one may hold it in its memory until it ends",
    ),
    line(
      "backups",
      "not_supported",
      "delete the folders that lily backup made, and copies elsewhere, or make new ones",
    ),
    line("model provider", "not_supported", "what a model was sent is with its provider; ask there"),
    ...(log === undefined ? [] : [line("database log", "not_supported", log)]),
    line(
      "LangGraph server",
      "not_supported",
      name === "LangGraph server"
        ? "its run queue and checkpoints hold what was sent; delete the threads"
        : "none is used here; one that served the same people keeps its own run queue and checkpoints",
    ),
  ];
}
