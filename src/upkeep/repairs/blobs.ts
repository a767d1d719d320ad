/** Removes blobs that nothing names, while nobody can be about to name one. */
import type { Database } from "better-sqlite3";
import { SqliteStore } from "#memory/stores/sqlite/sqlite-store.ts";
import type { Clock } from "#src/kernel/clock.ts";
import { isLilyError, LilyError } from "#src/kernel/errors.ts";
import { counted } from "../check.ts";
import { checkpointTexts } from "../checkpoint-texts.ts";
import { leaseStatesIn } from "../lease-rows.ts";
import { sizeText } from "../size-text.ts";
import { findUnusedBlobs } from "../unused-blobs.ts";
import { done, left, type Outcome } from "./outcome.ts";

/** A blob is stored before what names it; a message that failed may be sent again on the same day. */
const YOUNG_MS = 24 * 60 * 60 * 1000;

/** The files of a repair. */
export interface BlobFiles {
  readonly store: Database;
  readonly checkpoints: Database | undefined;
}

/**
 * Removes those that are older than a day. A turn that carries the same content again does not store it again, so each
 * removal makes sure, in its transaction, that no turn runs and that none has written since the search.
 */
export async function removeUnusedBlobs({ store, checkpoints }: BlobFiles, clock: Clock): Promise<Outcome> {
  const version = versionOf(store);
  const items = new SqliteStore(store, { clock });
  const { unused } = await findUnusedBlobs(items, () => checkpointTexts(checkpoints));
  const old = unused.filter(({ createdAt }) => clock.now() - createdAt.getTime() > YOUNG_MS);
  if (old.length === 0) return undefined;
  const quiet = items.withGuard(() => assertQuiet(store, version, clock));
  let bytes = 0;
  try {
    for (const blob of old) {
      await quiet.delete([...blob.namespace], blob.key);
      bytes += blob.bytes;
    }
  } catch (error) {
    if (!isLilyError(error) || error.code !== "storage_busy") throw error;
    return left("left for a time when no turn runs");
  }
  return done(`removed ${counted(old.length, "blob")} (${sizeText(bytes)}) that nothing names`);
}

/** Changes with each commit of another connection. */
function versionOf(store: Database): number {
  return Number(store.pragma("data_version", { simple: true }));
}

function assertQuiet(store: Database, version: number, clock: Clock): void {
  const { live } = leaseStatesIn(store, clock.now());
  if (live.length > 0 || versionOf(store) !== version)
    throw new LilyError("storage_busy", "somebody talks to Lily");
}
