/** `lily restore`: puts a backup in place, keeps what was there, and verifies what came. */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { openDatabase } from "#memory/stores/sqlite/open-database.ts";
import { SqliteStore } from "#memory/stores/sqlite/sqlite-store.ts";
import { STORE_SCHEMA } from "#memory/stores/sqlite/store-schema.ts";
import { systemClock } from "#src/app/system.ts";
import { done, refused, type Envelope } from "#src/kernel/envelope.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { someOf, type Check } from "#src/upkeep/check.ts";
import { checkConversations } from "#src/upkeep/checks/conversations.ts";
import { restore as restoreHome, type RestoreReport } from "#src/upkeep/restore.ts";
import type { CliContext, CliOptions } from "./context.ts";
import { renderChecks } from "./render/upkeep-tables.ts";
import { screenOf } from "./screen.ts";
import { progressOn, tell } from "./tell.ts";
import { anyHome, databasesBy } from "./upkeep-home.ts";
import { reportError } from "./with-engine.ts";

/** Restores the backup in `folder`. Returns the exit code. */
export async function restore(context: CliContext, options: CliOptions, folder: string): Promise<number> {
  try {
    const home = anyHome(context);
    assertBackup(resolve(context.cwd, folder));
    const report = await restoreHome({
      home,
      folder: resolve(context.cwd, folder),
      databasesBy: databasesBy(home, context),
      clock: systemClock(),
      onProgress: progressOn(context, options),
    });
    const checks = await verified(report);
    const envelope = envelopeOf(home.folder, report, checks);
    const tables = [renderChecks(checks, screenOf(context.stdout, context.env))];
    return tell(context, options, { envelope, tables });
  } catch (error) {
    return reportError(error, context, options);
  }
}

/** @throws {LilyError} `backup_invalid` for a folder that is not there */
function assertBackup(folder: string): void {
  if (existsSync(folder)) return;
  throw new LilyError("backup_invalid", `there is no folder ${folder}`, {
    next: "Give the folder of a backup; lily backup makes them in the folder backups. Nothing was changed.",
  });
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

function envelopeOf(home: string, report: RestoreReport, checks: readonly Check[]): Envelope {
  const { manifest, aside, checkpointsPut } = report;
  const data = { home, madeAt: manifest.madeAt, program: manifest.program, aside, checkpointsPut, checks };
  const kept = aside.length === 0 ? "" : ` What was there before is kept beside it: ${someOf(aside, 2)}.`;
  const left = checkpointsPut
    ? ""
    : " Another process had made new checkpoints meanwhile; turns in flight at the time of the backup are not resumed.";
  const problem = checks.find(({ state }) => state === "bad");
  const what = `the backup of ${manifest.madeAt} is in ${home}`;
  if (problem !== undefined) {
    return refused(
      "verify_failed",
      `${what}, but its ${problem.check} are not as they were committed: ${problem.found}.${kept}`,
      {
        data,
        next: "Choose an older backup if it should be as it was; conversations go on without.",
      },
    );
  }
  const next = aside.length === 0 ? {} : { next: "Remove what was kept once all is as it should be." };
  return done("restored", `Restored: ${what}.${kept}${left}`, { data, ...next });
}
