/** Loads the plugins that `config.json` names. */
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { z } from "zod";
import { errorMessage } from "#src/kernel/errors.ts";
import { BUILT_IN_PLUGINS } from "#src/preparation/built-in.ts";
import { withLoaded, type PluginProblem, type PluginRegistry } from "#src/preparation/plugins.ts";
import type { Config, LoadedConfig } from "./config.ts";

/** Those that come with Lily, and those of the files in `plugins`. What is broken is told in `problems` and left out. */
export async function loadPlugins({
  home,
  config,
}: Pick<LoadedConfig, "home"> & { readonly config: Pick<Config, "plugins"> }): Promise<PluginRegistry> {
  let registry = BUILT_IN_PLUGINS;
  for (const file of config.plugins) {
    const path = resolve(home, file);
    try {
      const module = z.looseObject({}).parse(await import(pathToFileURL(path).href));
      registry = withLoaded(registry, path, module["default"]);
    } catch (error) {
      const reason = errorMessage(error).replaceAll(/\s+/gu, " ");
      registry = { ...registry, problems: [...registry.problems, { path, reason }] };
    }
  }
  return registry;
}

/** What the person is told of a plugin that was left out. */
export function pluginProblemText({ path, reason }: PluginProblem): string {
  return `The plugin ${path} was left out: ${reason}.`;
}
