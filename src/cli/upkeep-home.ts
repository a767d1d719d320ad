/** Finds the home folder that subcommands work on which must not make one, and where its databases lie. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { assertFolder, configSchema, loadConfig, type LoadedConfig } from "#src/app/config.ts";
import { homeFolder } from "#src/app/home-folder.ts";
import { LilyError } from "#src/kernel/errors.ts";
import type { Home } from "#src/upkeep/home.ts";
import { assertNotCutOff } from "#src/upkeep/restore.ts";
import type { CliContext } from "./context.ts";

/** @throws {LilyError} `command_usage`: making a mistyped folder would hide the mistake */
export function assertHome(folder: string): void {
  assertNotCutOff(folder);
  assertFolder(folder);
  if (existsSync(folder)) return;
  throw new LilyError("command_usage", `the home folder ${folder} does not exist`, {
    next: "Set LILY_HOME to the folder that you mean.",
  });
}

/** The configuration; the default one, and what is wrong, where it cannot be read: the databases are looked at all the same. */
export function configOrDefault({ env, cwd }: CliContext): LoadedConfig & { readonly error?: unknown } {
  try {
    return loadConfig(env, cwd);
  } catch (error) {
    return { home: homeFolder(env, cwd), workspace: cwd, config: configSchema.parse({}), error };
  }
}

/** The home folder with the databases of a configuration. */
export function homeOf(folder: string, { config: { storage } }: Pick<LoadedConfig, "config">): Home {
  const databases = { checkpoints: join(folder, storage.checkpoints), store: join(folder, storage.store) };
  return { folder, databases };
}
