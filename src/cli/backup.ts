/** `lily backup`, a whole copy of the home folder, made while others go on; and `lily restore`, which puts one back. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { openDatabase } from "#memory/stores/sqlite/open-database.ts";
import { SqliteStore } from "#memory/stores/sqlite/sqlite-store.ts";
import { STORE_SCHEMA } from "#memory/stores/sqlite/store-schema.ts";
import { systemClock } from "#src/app/system.ts";
import { done, refused, type Envelope } from "#src/kernel/envelope.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { backUp } from "#src/upkeep/back-up.ts";
import { counted } from "#src/kernel/markdown.ts";
import { sizeText, type Check } from "#src/upkeep/check.ts";
import { checkConversations } from "#src/upkeep/conversations.ts";
import { BACKUPS, stampOf } from "#src/upkeep/home.ts";
import { restore as restoreHome, type RestoreReport } from "#src/upkeep/restore.ts";
import type { CliContext, CliOptions } from "./context.ts";
import { renderChecks } from "./doctor.ts";
import { screenOf } from "./screen.ts";
import { progressOn, tell } from "./tell.ts";
import { anyHome, databasesBy, sqliteHome } from "./upkeep-home.ts";
import { reportError } from "./with-engine.ts";

/** Makes a backup in `folder`, by default one named by the time under `backups`. Returns the exit code. */
export async function backup(
  context: CliContext,
  options: CliOptions,
  { folder, program }: { readonly folder: string | undefined; readonly program: string },
): Promise<number> {
  try {
    const home = sqliteHome(context);
    const clock = systemClock();
    const target =
      folder === undefined ? join(home.folder, BACKUPS, stampOf(clock.now())) : resolve(context.cwd, folder);
    const onProgress = progressOn(context, options);
    const { manifest, bytes } = await backUp({ home, folder: target, program, clock, onProgress });
    const message = `Backed up ${counted(manifest.files.length, "file")}, ${sizeText(bytes)}, to ${target}.`;
    const envelope = done("backed_up", message, {
      next: `lily restore ${target} brings it back. Keep it on another disk too.`,
      data: { folder: target, bytes, manifest },
    });
    return tell(context, options, { envelope });
  } catch (error) {
    return reportError(error, context, options);
  }
}

/** Restores the backup in `folder`, and verifies what came. Returns the exit code. */
export async function restore(context: CliContext, options: CliOptions, folder: string): Promise<number> {
  try {
    const home = anyHome(context);
    const source = resolve(context.cwd, folder);
    if (!existsSync(source)) {
      throw new LilyError("file_failed", `there is no folder ${source}`, {
        next: "Give the folder of a backup; lily backup makes them in the folder backups. Nothing was changed.",
      });
    }
    const report = await restoreHome({
      home,
      folder: source,
      databasesBy: databasesBy(home, context),
      clock: systemClock(),
      onProgress: progressOn(context, options),
    });
    const checks = await verified(report);
    const tables = [renderChecks(checks, screenOf(context.stdout, context.env))];
    return tell(context, options, { envelope: restoreEnvelope(home.folder, report, checks), tables });
  } catch (error) {
    return reportError(error, context, options);
  }
}

async function verified({ databases }: RestoreReport): Promise<Check[]> {
  if (!existsSync(databases.store)) return [];
  const db = openDatabase(databases.store, { schema: STORE_SCHEMA });
  try {
    return await checkConversations(new SqliteStore(db, { clock: systemClock() }));
  } finally {
    db.close();
  }
}

function restoreEnvelope(
  home: string,
  { manifest, aside }: RestoreReport,
  checks: readonly Check[],
): Envelope {
  const data = { home, madeAt: manifest.madeAt, program: manifest.program, aside, checks };
  const kept = aside === null ? "" : ` What was there before is kept as ${aside}.`;
  const problem = checks.find(({ state }) => state === "bad");
  const what = `the backup of ${manifest.madeAt} is in ${home}`;
  if (problem === undefined) {
    const next = aside === null ? {} : { next: "Remove that once all is as it should be." };
    return done("restored", `Restored: ${what}.${kept}`, { data, ...next });
  }
  const message = `${what}, but its ${problem.check} are not as they were committed: ${problem.found}.${kept}`;
  const next = "Choose an older backup if it should be as it was; conversations go on without.";
  return refused("verify_failed", message, { data, next });
}
