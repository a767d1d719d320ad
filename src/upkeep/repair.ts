/** Repairs what can be repaired without touching a transcript, a chain or a seal. A backup is made before anything else. */
import { existsSync } from "node:fs";
import type { Database } from "better-sqlite3";
import { openDatabase } from "#memory/stores/sqlite/open-database.ts";
import { SqliteStore } from "#memory/stores/sqlite/sqlite-store.ts";
import { STORE_SCHEMA } from "#memory/stores/sqlite/store-schema.ts";
import type { Clock } from "#src/kernel/clock.ts";
import { errorMessage } from "#src/kernel/errors.ts";
import { backUp, type BackupRequest } from "./back-up.ts";
import type { Check } from "./check.ts";
import { knownSessionsIn, type KnownSessions } from "./known-sessions.ts";
import { removeUnusedBlobs, type BlobFiles } from "./repairs/blobs.ts";
import { removeDamagedCheckpoints } from "./repairs/damaged-checkpoints.ts";
import { giveBackLeases } from "./repairs/leases.ts";
import type { Outcome } from "./repairs/outcome.ts";
import { removeOrphans } from "./repairs/orphans.ts";
import { foldLog, giveSpaceBack } from "./repairs/space.ts";
import { removeStopRequests } from "./repairs/stop-requests.ts";
import { rebuildTextIndex } from "./repairs/text-index.ts";

/** One item of a repair. */
export interface RepairStep {
  readonly item: string;
  readonly state: "done" | "nothing" | "left" | "failed";
  readonly did: string;
}

const NOTHING = { state: "nothing", did: "there was nothing to do" } as const;

/** Rows of an examination after which no file is touched, whatever else could be repaired. */
const FILES_ARE_UNSOUND = new Set(["restore", "pair", "store file", "checkpoint file"]);

/**
 * Repairs, item by item; one that fails does not keep the others from being tried.
 *
 * @param checks what the examination before it found
 * @throws {LilyError} when the backup could not be made; then nothing was repaired
 */
export async function repair(request: BackupRequest, checks: readonly Check[]): Promise<RepairStep[]> {
  const unsound = checks.find(({ check, state }) => state === "bad" && FILES_ARE_UNSOUND.has(check));
  if (unsound !== undefined) {
    return [
      {
        item: "all",
        state: "left",
        did: `nothing is repaired in a file that is not sound: ${unsound.found}`,
      },
    ];
  }
  const { folder } = await backUp(request);
  const backup: RepairStep = { item: "backup", state: "done", did: `made in ${folder}` };
  return [backup, ...(await repairContents(request)), ...(await repairRoom(request))];
}

async function repairContents({ home, clock }: BackupRequest): Promise<RepairStep[]> {
  const { databases } = home;
  if (!existsSync(databases.store)) return [];
  const store = openDatabase(databases.store, { schema: STORE_SCHEMA });
  const checkpoints = existsSync(databases.checkpoints) ? openDatabase(databases.checkpoints) : undefined;
  try {
    return [
      await step("leases", () => giveBackLeases(store, clock)),
      await step("text index", () => rebuildTextIndex(store)),
      await step("stop requests", () => removeStopRequests(new SqliteStore(store, { clock }), clock.now())),
      ...(checkpoints === undefined ? [] : await repairCheckpoints(checkpoints, store, clock)),
      // Behind the checkpoints, which may be what named one.
      await step("blobs", () => repairBlobs({ store, checkpoints }, clock)),
    ];
  } finally {
    checkpoints?.close();
    store.close();
  }
}

async function repairCheckpoints(
  checkpoints: Database,
  store: Database,
  clock: Clock,
): Promise<RepairStep[]> {
  return [
    await step("checkpoints", () => removeDamagedCheckpoints(checkpoints)),
    await step("leftovers", () => repairLeftovers(checkpoints, store, clock)),
  ];
}

async function repairLeftovers(checkpoints: Database, store: Database, clock: Clock): Promise<Outcome> {
  const sessions = knownSessionsIn(store);
  if (isWrongStore(sessions)) return undefined;
  return removeOrphans(checkpoints, { isSession: (id) => sessions.has(id), now: clock.now() });
}

async function repairBlobs(files: BlobFiles, clock: Clock): Promise<Outcome> {
  return isWrongStore(knownSessionsIn(files.store)) ? undefined : removeUnusedBlobs(files, clock);
}

/** A store without a single session, beside checkpoints, is the wrong store rather than a home full of leftovers. */
function isWrongStore({ inChains }: KnownSessions): boolean {
  return inChains === 0;
}

async function repairRoom({ home }: BackupRequest): Promise<RepairStep[]> {
  const steps: RepairStep[] = [];
  for (const role of ["checkpoints", "store"] as const) {
    const file = home.databases[role];
    if (!existsSync(file)) continue;
    steps.push(await step(`log (${role})`, () => fold(file)));
    steps.push(await step(`free space (${role})`, () => giveSpaceBack(file)));
  }
  return steps;
}

function fold(file: string): Outcome {
  const db = openDatabase(file);
  try {
    return foldLog(db);
  } finally {
    db.close();
  }
}

async function step(item: string, work: () => Outcome | Promise<Outcome>): Promise<RepairStep> {
  try {
    return { item, ...((await work()) ?? NOTHING) };
  } catch (error) {
    return { item, state: "failed", did: errorMessage(error) };
  }
}
