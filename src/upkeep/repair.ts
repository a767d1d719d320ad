/** Makes anew what is made from other things: text indexes, and pointers. A backup is made before anything else. */
import { existsSync } from "node:fs";
import { openDatabase } from "#memory/stores/sqlite/open-database.ts";
import { SqliteStore } from "#memory/stores/sqlite/sqlite-store.ts";
import { STORE_SCHEMA } from "#memory/stores/sqlite/store-schema.ts";
import { errorMessage } from "#src/kernel/errors.ts";
import { backUp, type BackupRequest } from "./back-up.ts";
import { counted } from "#src/kernel/markdown.ts";
import type { Check } from "./check.ts";
import { repairPointers } from "./conversations.ts";
import { CHECKPOINT_FILE, STORE_FILE } from "./examine-home.ts";
import { checkTextIndex, rebuildTextIndex } from "./database-file.ts";

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
