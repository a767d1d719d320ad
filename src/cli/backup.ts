/** `lily backup`, a whole copy of the home folder, made while others go on; and `lily restore`, which puts one back. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { openDatabase } from "#memory/stores/sqlite/open-database.ts";
import { SqliteStore } from "#memory/stores/sqlite/sqlite-store.ts";
import { STORE_SCHEMA } from "#memory/stores/sqlite/store-schema.ts";
import { loadConfig, type LoadedConfig } from "#src/app/config.ts";
import { systemClock } from "#src/app/system.ts";
import { done, refused, type Envelope } from "#src/kernel/envelope.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { backUp } from "#src/upkeep/back-up.ts";
import { counted } from "#src/kernel/markdown.ts";
import { sizeText, type Check } from "#src/upkeep/check.ts";
import { checkConversations } from "#src/upkeep/conversations.ts";
import { BACKUPS, stampOf } from "#src/upkeep/home.ts";
import { restore as restoreHome, type RestoreReport } from "#src/upkeep/restore.ts";
import type { CliContext } from "./context.ts";
import { renderChecks } from "./doctor.ts";
import { screenOf } from "./screen.ts";
import { progressOn, tell } from "./tell.ts";
import { assertHome, configOrDefault, homeOf } from "./upkeep-home.ts";

/** Makes a backup in `given`, by default a folder named by the time under `backups`. Returns the exit code. */
export async function backup(
  context: CliContext,
  given: string | undefined,
  program: string,
): Promise<number> {
  const loaded = onSqlite(loadConfig(context.env, context.cwd));
  assertHome(loaded.home);
  const home = homeOf(loaded.home, loaded);
  const clock = systemClock();
  const folder =
    given === undefined ? join(home.folder, BACKUPS, stampOf(clock.now())) : resolve(context.cwd, given);
  const onProgress = progressOn(context);
  const { manifest, bytes } = await backUp({ home, folder, program, clock, onProgress });
  const message = `Backed up ${counted(manifest.files.length, "file")}, ${sizeText(bytes)}, to ${folder}.`;
  const envelope = done("backed_up", message, {
    next: `lily restore ${folder} brings it back. Keep it on another disk too.`,
    data: { folder, bytes, manifest },
  });
  return tell(context, envelope);
}

/** Restores the backup in `given`, and verifies what came. Returns the exit code. */
export async function restore(context: CliContext, given: string): Promise<number> {
  const { env, cwd, stdout } = context;
  const loaded = configOrDefault(context);
  const home = homeOf(loaded.home, loaded);
  const folder = resolve(cwd, given);
  if (!existsSync(folder)) {
    throw new LilyError("file_failed", `there is no folder ${folder}`, {
      next: "Give the folder of a backup; lily backup makes them in the folder backups. Nothing was changed.",
    });
  }
  const report = await restoreHome({
    home,
    folder,
    databasesBy: (LILY_HOME) => homeOf(home.folder, onSqlite(loadConfig({ LILY_HOME }, cwd))).databases,
    clock: systemClock(),
    onProgress: progressOn(context),
  });
  const checks = await verified(report);
  return tell(context, restoreEnvelope(home.folder, report, checks), [
    renderChecks(checks, screenOf(stdout, env)),
  ]);
}

/** @throws {LilyError} `upkeep_unsupported` on other backends than SQLite */
function onSqlite(loaded: LoadedConfig): LoadedConfig {
  const { backend } = loaded.config.storage;
  if (backend === "sqlite") return loaded;
  const [message, next] =
    backend === "postgres"
      ? [
          "on PostgreSQL, backup and restore are the work of pg_dump and pg_restore",
          "lily doctor checks what pg_restore has put back.",
        ]
      : [
          "storage.backend is memory, which keeps nothing",
          "Set storage.backend to sqlite to keep conversations.",
        ];
  throw new LilyError("upkeep_unsupported", message, { next });
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
