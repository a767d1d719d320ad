/** The examination of a home folder on SQLite, which reads only, and its repair: what is made from other things is made anew. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import type { Database } from "better-sqlite3";
import { z } from "zod";
import { openDatabase } from "#memory/stores/sqlite/open-database.ts";
import { SqliteStore } from "#memory/stores/sqlite/sqlite-store.ts";
import { STORE_SCHEMA } from "#memory/stores/sqlite/store-schema.ts";
import type { Clock } from "#src/kernel/clock.ts";
import { decodeText } from "#src/kernel/decode-text.ts";
import { errorMessage } from "#src/kernel/errors.ts";
import { counted } from "#src/kernel/markdown.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import { backUp, type BackupRequest } from "./back-up.ts";
import { type Check, fine, orRow, someOf, warning, wrong } from "./check.ts";
import { checkConversations, repairPointers } from "./conversations.ts";
import {
  checkpointUsage,
  checkTextIndex,
  checkWhole,
  type DiskUse,
  hasTable,
  openForReading,
  rebuildTextIndex,
  storeUsage,
} from "./database-file.ts";
import { type Home, STAGED } from "./home.ts";

/** What an examination found. */
export interface Examination {
  readonly checks: readonly Check[];
  readonly usage: readonly DiskUse[];
}

/** The two files as far as they can be read. */
interface Files {
  readonly store: Database | undefined;
  readonly checkpoints: Database | undefined;
}

/** Names of the rows of the two files. */
const STORE_FILE = "store file";
const CHECKPOINT_FILE = "checkpoint file";

/** Examines everything in a home folder that exists. */
export async function examineHome(home: Home, clock: Clock): Promise<Examination> {
  const store = openForReading(home.databases.store, STORE_FILE, STORE_SCHEMA);
  const checkpoints = openForReading(home.databases.checkpoints, CHECKPOINT_FILE);
  try {
    const files = { store: store.db, checkpoints: checkpoints.db };
    const lost = await orRow(STORE_FILE, () => checkLost(home, files));
    // A store that lost what it held is not called whole as well.
    const isLost = lost.some(({ check, state }) => check === STORE_FILE && state === "bad");
    const checks = [
      ...checkLeftOver(home),
      ...(await orRow("settings", () => [checkSettings(home.folder)])),
      ...(isLost ? [] : await checkFile(store, STORE_FILE)),
      ...(await checkFile(checkpoints, CHECKPOINT_FILE)),
      ...lost,
      ...(await checkContents(files, clock)),
    ];
    return { checks, usage: usageOf(files) };
  } finally {
    store.db?.close();
    checkpoints.db?.close();
  }
}

/** A restore that was cut off before it changed anything leaves the folder that it had prepared. */
function checkLeftOver({ folder }: Home): Check[] {
  const names = namesIn(dirname(folder)).filter((name) => name.startsWith(`${basename(folder)}${STAGED}`));
  if (names.length === 0) return [];
  const found = `a restore was cut off before it changed anything; it left ${someOf(names)} beside the home folder`;
  return [warning("restore", found, "Remove it, and restore again if you still want to.")];
}

/** None where the folder may not be listed: a home folder can be used without its neighbours. */
function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** A crash may leave a JSON file with the right size and only zeros. */
function checkSettings(folder: string): Check {
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  const problems = names.flatMap((name) => {
    const problem = problemOf(join(folder, name));
    return problem === undefined ? [] : [`${join(folder, name)} ${problem}`];
  });
  if (problems.length === 0) return fine("settings", `${counted(names.length, "JSON file")} can be read`);
  return wrong("settings", someOf(problems), {
    code: "config_invalid",
    next: "It is kept as it is; correct it, or take it from a backup.",
  });
}

function problemOf(path: string): string | undefined {
  try {
    const bytes = readFileSync(path);
    if (bytes.length > 0 && bytes.every((byte) => byte === 0)) return "holds nothing but zeros";
    const { text, problem } = decodeText(bytes);
    if (text === undefined) return problem;
    JSON.parse(text);
    return undefined;
  } catch (error) {
    // The parser's own message repeats a piece of the file, which may be a secret.
    return error instanceof SyntaxError ? "is not JSON" : `cannot be read: ${errorMessage(error)}`;
  }
}

async function checkFile({ db, check }: ReturnType<typeof openForReading>, name: string): Promise<Check[]> {
  return db === undefined ? [check] : orRow(name, () => [checkWhole(db, name)]);
}

/** One file without what the other one tells of. A store that is damaged or cannot be read is told of by its own row. */
function checkLost({ databases }: Home, { store, checkpoints }: Files): Check[] {
  const isStoreEmpty = store === undefined ? !existsSync(databases.store) : !hasTable(store, "items");
  if (checkpoints !== undefined && isStoreEmpty && hasRows(checkpoints, "checkpoints")) {
    const found = `${databases.store} is ${store === undefined ? "missing" : "empty"}, and there are checkpoints of conversations`;
    return [
      wrong(STORE_FILE, found, { code: "storage_damaged", next: "Restore a backup: lily restore <folder>." }),
    ];
  }
  if (checkpoints !== undefined || store === undefined || existsSync(databases.checkpoints)) return [];
  if (!hasRows(store, "items")) return [];
  const found = `${databases.checkpoints} does not exist; it is made anew`;
  return [warning(CHECKPOINT_FILE, found, "At most a question that waited for an answer was lost.")];
}

function hasRows(db: Database, table: string): boolean {
  return hasTable(db, table) && db.prepare(`SELECT 1 FROM ${table} LIMIT 1`).get() !== undefined;
}

async function checkContents({ store, checkpoints }: Files, clock: Clock): Promise<Check[]> {
  if (store === undefined || !hasTable(store, "items")) return [];
  if (Number(store.pragma("user_version", { simple: true })) < STORE_SCHEMA.version)
    return [fine("contents", "the store file is of an older version; the next start brings it up to date")];
  const items = new SqliteStore(store, { clock });
  return [
    ...(await orRow("text index", () => [checkTextIndex(store)])),
    ...(await orRow("conversations", () => checkConversations(items))),
    ...(checkpoints === undefined
      ? []
      : await orRow("answered turns", async () => [await checkLostTurns(checkpoints, items)])),
  ];
}

function usageOf({ store, checkpoints }: Files): DiskUse[] {
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

// Of each thread the newest checkpoint; a row that is no JSON tells nothing.
const SESSIONS = `
  SELECT json_extract(CAST(checkpoint AS TEXT), '$.channel_values.session') FROM checkpoints AS newest
  WHERE checkpoint_ns = '' AND json_valid(CAST(checkpoint AS TEXT)) AND checkpoint_id = (
    SELECT max(checkpoint_id) FROM checkpoints WHERE thread_id = newest.thread_id AND checkpoint_ns = '')`;

const sessionSchema = z.object({
  owner: z.string(),
  sessionKey: z.string(),
  sessionId: z.string(),
  turns: z.int(),
});

/** The row of the turns that only checkpoints know of. Reads only. */
async function checkLostTurns(checkpoints: Database, store: BaseStore): Promise<Check> {
  const repository = createStoreSessionRepository(store);
  const lost: string[] = [];
  for (const stored of hasTable(checkpoints, "checkpoints") ? sessionsIn(checkpoints) : []) {
    const last = await repository.lastStoredTurn(stored);
    if (last >= stored.turns) continue;
    lost.push(`turns ${last + 1} to ${stored.turns} of session ${stored.sessionId}`);
  }
  if (lost.length === 0) return fine("answered turns", "each that a checkpoint counts is in the store");
  return wrong("answered turns", `${someOf(lost)} are not in the store any more`, {
    code: "storage_damaged",
    next: "Restore a backup if they should be there: lily restore <folder>. The conversation goes on behind them.",
  });
}

function sessionsIn(checkpoints: Database): z.infer<typeof sessionSchema>[] {
  return checkpoints
    .prepare<[], string | null>(SESSIONS)
    .pluck()
    .all()
    .flatMap((text) => sessionSchema.safeParse(JSON.parse(text ?? "null")).data ?? []);
}

/** One item of a repair. */
export interface RepairStep {
  readonly item: string;
  readonly state: "done" | "nothing" | "left" | "failed";
  readonly did: string;
}

/**
 * Repairs, item by item; one that fails does not keep the others from being tried. Transcripts, chains, seals, and files
 * that are damaged are left as they are.
 *
 * @param checks what the examination before it found
 * @throws {LilyError} when the backup could not be made; then nothing was repaired
 */
export async function repair(request: BackupRequest, checks: readonly Check[]): Promise<RepairStep[]> {
  const { home, clock } = request;
  const unsound = checks.find(
    ({ check, state }) => state === "bad" && (check === STORE_FILE || check === CHECKPOINT_FILE),
  );
  if (unsound !== undefined) {
    const did = `nothing is repaired in a file that is not sound: ${unsound.found}`;
    return [{ item: "all", state: "left", did }];
  }
  const { folder } = await backUp(request);
  const backup: RepairStep = { item: "backup", state: "done", did: `made in ${folder}` };
  if (!existsSync(home.databases.store)) return [backup];
  const store = openDatabase(home.databases.store, { schema: STORE_SCHEMA });
  try {
    return [
      backup,
      await step("text index", async () =>
        checkTextIndex(store).state === "ok"
          ? ""
          : `made anew from ${counted(await rebuildTextIndex(store), "text")}`,
      ),
      await step("pointers", async () => {
        const count = await repairPointers(new SqliteStore(store, { clock }));
        return count === 0 ? "" : `made ${counted(count, "pointer")} anew`;
      }),
    ];
  } finally {
    store.close();
  }
}

/** @param work says what it did, `""` when there was nothing to do */
async function step(item: string, work: () => Promise<string>): Promise<RepairStep> {
  try {
    const did = await work();
    return did === ""
      ? { item, state: "nothing", did: "there was nothing to do" }
      : { item, state: "done", did };
  } catch (error) {
    return { item, state: "failed", did: errorMessage(error) };
  }
}
