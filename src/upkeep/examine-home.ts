/** The examination of a home folder on SQLite. Reads only; what is wrong with one file does not hide the others. */
import { existsSync } from "node:fs";
import { SqliteStore } from "#memory/stores/sqlite/sqlite-store.ts";
import { STORE_SCHEMA } from "#memory/stores/sqlite/store-schema.ts";
import type { Clock } from "#src/kernel/clock.ts";
import { fine, warning, wrong, type Check } from "./check.ts";
import { checkDamagedCheckpoints } from "./checks/damaged-checkpoints.ts";
import { checkRoom, checkWhole, openForReading, type ReadableDatabase } from "./checks/database-file.ts";
import { checkLeases } from "./checks/leases.ts";
import { checkOrphans } from "./checks/orphans.ts";
import { checkSideFiles } from "./checks/side-files.ts";
import { checkStopRequests } from "./checks/stop-requests.ts";
import { checkTextIndex } from "./checks/text-index.ts";
import { checkpointTexts } from "./checkpoint-texts.ts";
import { checkpointUsage, storeUsage, type DiskUse } from "./disk-usage.ts";
import { examineStore, orRow } from "./examine-store.ts";
import type { Home } from "./home.ts";
import { knownSessionsIn } from "./known-sessions.ts";
import { readMarker } from "./restore-marker.ts";

/** What an examination found. */
export interface Examination {
  readonly checks: readonly Check[];
  readonly usage: readonly DiskUse[];
}

/** The two files as far as they can be read. */
interface Files {
  readonly home: Home;
  readonly clock: Clock;
  readonly store: ReadableDatabase | undefined;
  readonly checkpoints: ReadableDatabase | undefined;
}

const STORE_FILE = "store file";
const CHECKPOINT_FILE = "checkpoint file";

/** Examines everything in a home folder that exists. */
export async function examineHome(home: Home, clock: Clock): Promise<Examination> {
  const store = openForReading(home.databases.store, STORE_FILE, STORE_SCHEMA);
  const checkpoints = openForReading(home.databases.checkpoints, CHECKPOINT_FILE);
  try {
    const files = { home, clock, store: store.db, checkpoints: checkpoints.db };
    const before = [
      ...checkRestore(home),
      ...(await orRow("settings", () => [checkSideFiles(home.folder)])),
      ...checkPair(home),
    ];
    const found = [store.check, checkpoints.check].filter((check) => check !== undefined);
    const checks = [...before, ...found, ...(await checkFiles(files)), ...(await checkContents(files))];
    return { checks, usage: await usageOf(files) };
  } finally {
    store.db?.close();
    checkpoints.db?.close();
  }
}

function checkRestore(home: Home): Check[] {
  const marker = readMarker(home.folder);
  if (marker === undefined) return [];
  return [
    wrong("restore", `a restore of ${marker.backup}, begun at ${marker.startedAt}, was cut off`, {
      code: "doctor_failed",
      next: `End it with lily restore ${marker.backup}. What was there before is kept beside it.`,
    }),
  ];
}

function checkPair({ databases }: Home): Check[] {
  const [hasStore, hasCheckpoints] = [existsSync(databases.store), existsSync(databases.checkpoints)];
  if (hasStore === hasCheckpoints) return [];
  if (hasStore) {
    const found = `${databases.checkpoints} does not exist; it is made anew`;
    return [warning("pair", found, "At most a turn in flight was lost.")];
  }
  return [
    wrong("pair", `${databases.store} does not exist, and there are checkpoints of conversations`, {
      code: "storage_damaged",
      next: "Restore a backup: lily restore <folder>. Without it conversations begin anew.",
    }),
  ];
}

async function checkFiles({ store, checkpoints }: Files): Promise<Check[]> {
  const rows: Check[] = [];
  for (const [db, name] of [
    [store, STORE_FILE],
    [checkpoints, CHECKPOINT_FILE],
  ] as const) {
    if (db === undefined) continue;
    rows.push(...(await orRow(name, () => [checkWhole(db, name)])));
    rows.push(...(await orRow(`${name}: room`, () => [checkRoom(db, `${name}: room`)])));
  }
  return rows;
}

async function checkContents({ store, checkpoints, clock }: Files): Promise<Check[]> {
  if (store === undefined) return [];
  if (Number(store.pragma("user_version", { simple: true })) < STORE_SCHEMA.migrations.length)
    return [fine("contents", "the store file is of an older version; the next start brings it up to date")];
  const rows = await orRow("text index", () => [checkTextIndex(store)]);
  const items = new SqliteStore(store, { clock });
  rows.push(...(await examineStore(items, { otherTexts: () => checkpointTexts(checkpoints) })));
  rows.push(...(await orRow("leases", () => [checkLeases(store, clock.now())])));
  rows.push(...(await orRow("stop requests", async () => [await checkStopRequests(items, clock.now())])));
  if (checkpoints === undefined) return rows;
  rows.push(...(await orRow("checkpoints", () => [checkDamagedCheckpoints(checkpoints)])));
  const leftovers = await orRow("leftovers", () => {
    const sessions = knownSessionsIn(store);
    const facts = { isSession: (threadId: string) => sessions.has(threadId), now: clock.now() };
    return [checkOrphans(checkpoints, facts)];
  });
  return [...rows, ...leftovers];
}

async function usageOf({ store, checkpoints }: Files): Promise<DiskUse[]> {
  try {
    return [
      ...(store === undefined ? [] : storeUsage(store)),
      ...(checkpoints === undefined ? [] : checkpointUsage(checkpoints)),
    ];
  } catch {
    // A damaged file cannot be measured; its own row says that it is damaged.
    return [];
  }
}
