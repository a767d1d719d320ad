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

/** What a session's checkpoints are, where it goes on from its transcript without them. */
export function checkpointsNote(storage: Pick<StorageBackend, "name">): string {
  const what = isServer(storage) ? "threads with what was sent to them" : "sessions";
  return `${what}; they go on from their transcripts`;
}

function isServer({ name }: Pick<StorageBackend, "name">): boolean {
  return name === "LangGraph server";
}

/** Places outside. */
export function outsideLines({ erasure, name }: Pick<StorageBackend, "erasure" | "name">): ReceiptLine[] {
  const log = erasure?.logKeeps;
  return [
    line(
      "exported files",
      "not_supported",
      "what /memory export wrote is in exports of the home folder, or where you put it; delete it",
    ),
    line(
      "other programs",
      "not_supported",
      "a terminal or server that runs beside this one may hold it in its memory until it ends",
    ),
    line(
      "backups",
      "not_supported",
      "delete what lily backup and lily doctor --repair made and what lily restore set aside (*.before-restore-*), and copies elsewhere",
    ),
    line("model provider", "not_supported", "what a model was sent is with its provider; ask there"),
    ...(log === undefined ? [] : [line("database log", "not_supported", log)]),
    line(
      "LangGraph server",
      "not_supported",
      isServer({ name })
        ? "what its runs streamed is in its memory until it is started anew; LangGraph Platform's database has a log of its own"
        : "none is used here; one that served the same people has its own data: send it the same",
    ),
  ];
}
