/** Finds what `lily backup`, `restore` and `doctor` work on, and tells them where databases lie. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { assertFolder, configSchema, loadConfig, type Config, type Environment } from "#src/app/config.ts";
import { homeFolder } from "#src/app/home-folder.ts";
import { LilyError } from "#src/kernel/errors.ts";
import type { DatabasePaths, Home } from "#src/upkeep/home.ts";
import { assertNotCutOff } from "#src/upkeep/restore.ts";
import type { CliContext } from "./context.ts";

/**
 * The home folder with its SQLite files.
 *
 * @throws {LilyError} `config_invalid`; `command_usage` when it does not exist; `upkeep_unsupported` on other backends
 */
export function sqliteHome({ env, cwd }: CliContext): Home {
  const { home, config } = loadConfig(env, cwd);
  assertSqlite(config);
  assertHome(home);
  return { folder: home, databases: databasesOf(home, config) };
}

/** @throws {LilyError} `command_usage`: making a mistyped folder would hide the mistake */
export function assertHome(folder: string): void {
  assertNotCutOff(folder);
  assertFolder(folder);
  if (existsSync(folder)) return;
  throw new LilyError("command_usage", `the home folder ${folder} does not exist`, {
    next: "Set LILY_HOME to the folder that you mean.",
  });
}

/** The home folder, also one that does not exist or whose configuration is damaged: then with the default paths. */
export function anyHome({ env, cwd }: CliContext): Home {
  const folder = homeFolder(env, cwd);
  return { folder, databases: databasesOf(folder, configOrDefault(env, cwd)) };
}

/** Where the databases of `home` are by the configuration in `configFolder`. */
export function databasesBy(home: Home, { cwd }: CliContext): (configFolder: string) => DatabasePaths {
  return (configFolder) => {
    const { config } = loadConfig({ LILY_HOME: configFolder }, cwd);
    assertSqlite(config);
    return databasesOf(home.folder, config);
  };
}

function configOrDefault(env: Environment, cwd: string): Config {
  try {
    return loadConfig(env, cwd).config;
  } catch {
    // A damaged configuration is told of by the checks, and must not keep the databases from being looked at.
    return configSchema.parse({});
  }
}

function databasesOf(folder: string, { storage }: Config): DatabasePaths {
  return { checkpoints: join(folder, storage.checkpoints), store: join(folder, storage.store) };
}

function assertSqlite({ storage: { backend } }: Config): void {
  if (backend === "sqlite") return;
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
