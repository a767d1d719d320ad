/** What Lily keeps in a home folder, by kind. */
import { join } from "node:path";
import Database from "better-sqlite3";
import { checkpointUsage, storeUsage, type DiskUse } from "#src/upkeep/disk-usage.ts";
import { configSchema } from "#src/app/config.ts";
import type { KindBytes } from "./bench-result.ts";

/** Kinds and their bytes in a home with the default paths. */
export function lilyDisk(home: string): DiskUse[] {
  const { storage } = configSchema.parse({});
  return [
    ...readUsage(join(home, storage.store), storeUsage),
    ...readUsage(join(home, storage.checkpoints), checkpointUsage),
  ];
}

/** The kinds of `after` with what each of `turns` turns has added to them since `before`. Empty ones are left out. */
export function kindGrowth(
  before: readonly DiskUse[],
  after: readonly DiskUse[],
  turns: number,
): KindBytes[] {
  return after.flatMap(({ kind, bytes }) => {
    const earlier = before.find((use) => use.kind === kind)?.bytes ?? 0;
    return bytes === 0 && earlier === 0
      ? []
      : [{ kind, totalBytes: bytes, bytesPerTurn: (bytes - earlier) / turns }];
  });
}

function readUsage(path: string, read: (db: Database.Database) => DiskUse[]): DiskUse[] {
  const db = new Database(path, { readonly: true });
  try {
    return read(db);
  } finally {
    db.close();
  }
}
