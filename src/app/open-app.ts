/** Makes the real dependencies: files, clock, models. */
import type { ChatModels } from "#src/models/chat-model.ts";
import { BUILT_IN } from "#src/sessions/rollover-policy.ts";
import { createControlModelTopics } from "#src/topics/control-model-topics.ts";
import { createLexicalTopics } from "#src/topics/lexical-topics.ts";
import type { SessionDeps, TopicClassifiers } from "./session-deps.ts";
import type { StructuredToolInterface } from "@langchain/core/tools";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { createEmbedder } from "#memory/embedding/embedders.ts";
import { indexFieldsOf, isMemory } from "#memory/namespaces.ts";
import type { StoreIndex } from "#memory/stores/index-fields.ts";
import { createAgentFiles } from "#src/agents/agent-files.ts";
import { BUILT_IN_PLUGINS } from "#src/preparation/built-in.ts";
import type { PluginRegistry } from "#src/preparation/plugins.ts";
import { createOpenAIChatModels, openAISettingsOf } from "#src/models/openai-chat-models.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { defined } from "#src/kernel/json.ts";
import { joined } from "#src/kernel/markdown.ts";
import { sleepByTimer } from "#src/models/retry-model.ts";
import { createMemoryBackend, openSqliteBackend } from "#src/storage/sqlite/sqlite-backend.ts";
import type { StorageBackend } from "#src/storage/backend.ts";
import { ContextWindows } from "#src/models/context-windows.ts";
import { ShownTurns } from "#src/turns/shown-turns.ts";
import { createFetchTool } from "#src/tools/fetch-tool.ts";
import { createReadFileTool } from "#src/tools/read-file-tool.ts";
import { createOutsideTools } from "#src/tools/outside-tools.ts";
import { StopRegistry } from "#src/turns/stop.ts";
import { assertNotCutOff } from "#src/upkeep/restore.ts";
import { noThreadRegistrar, type ThreadRegistrar } from "#src/turns/thread-registrar.ts";
import { type Config, type Environment, loadConfig, type LoadedConfig } from "./config.ts";
import { loadPlugins, pluginProblemText } from "./load-plugins.ts";
import { sessionSettings, type Surroundings, UNSHOWN_CHARACTERS } from "./session-settings.ts";
import { machineTimeZone, systemClock, systemIds, timeZoneProblem } from "./system.ts";

/** An application with its storage open. */
export interface App {
  readonly home: string;
  readonly config: Config;
  readonly deps: SessionDeps;
  readonly storage: StorageBackend;
  /** What the person who started this program is told, once. */
  readonly notice?: string;
  /** Ends what was begun for tools, and closes the storage. Idempotent. */
  close(): Promise<void>;
}

/** Skills that come with Lily, by the package's own name for them: this file may be part of a bundle. A bundle outside has none. */
function bundledSkills(): string {
  try {
    const { resolve: find } = createRequire(import.meta.url);
    return resolve(find("#src/agents/bundled/using-lily/SKILL.md"), "../..");
  } catch {
    return "";
  }
}

/** Tools that come with Lily and are off unless they are configured. */
function builtInTools({ config, workspace, home }: LoadedConfig): StructuredToolInterface[] {
  const { files, fetch } = config.tools;
  return [
    ...(files.folders.length === 0 ? [] : [createReadFileTool({ ...files, workspace, home })]),
    ...(fetch ? [createFetchTool()] : []),
  ];
}

/** Dependencies that need no storage, as the graph on a LangGraph server has them. */
export function createSessionDeps(
  loaded: LoadedConfig,
  env: Environment,
  options: { readonly threads?: ThreadRegistrar; readonly plugins?: PluginRegistry } & Omit<
    Surroundings,
    "machineZone"
  > = {},
): SessionDeps {
  const models = createOpenAIChatModels(openAISettingsOf(env));
  const settings = sessionSettings(loaded.config, env, { ...options, machineZone: machineTimeZone });
  const clock = systemClock(env);
  const { mcpServers: servers, tools } = loaded.config;
  const outside = createOutsideTools({
    ...tools,
    servers,
    builtIn: builtInTools(loaded),
    env,
    cwd: loaded.workspace,
    monotonic: () => clock.monotonic(),
  });
  return {
    ...settings,
    ...defined({ outside }),
    clock,
    ids: systemIds,
    models,
    plugins: options.plugins ?? BUILT_IN_PLUGINS,
    agentFiles: createAgentFiles({
      ...loaded,
      bundled: bundledSkills(),
      defaultAgent: settings.agents.defaultAgent,
    }),
    topics: createTopicClassifiers(models),
    stops: new StopRegistry(),
    shownTurns: new ShownTurns(),
    windows: new ContextWindows(clock),
    threads: options.threads ?? noThreadRegistrar,
    storageName: "LangGraph server",
    sleep: sleepByTimer,
    random: Math.random,
  };
}

/** What is told once where the machine names no time zone and the configuration does not either. */
export function zoneProblem({ timeZone }: Config, env: Environment): string | undefined {
  const problem = timeZone === undefined ? timeZoneProblem(env["TZ"]) : undefined;
  return problem === undefined ? undefined : `${problem}. Set timeZone in config.json.`;
}

/**
 * Opens the application of the home folder.
 *
 * @param options `mayOnlyRead`: one that cannot be written is opened all the same, and refuses each write
 * @throws {LilyError} `config_invalid`, or what the storage says of its files
 */
export async function openApp(
  env: Environment,
  cwd: string,
  { mayOnlyRead = false }: { readonly mayOnlyRead?: boolean } = {},
): Promise<App> {
  const loaded = loadConfig(env, cwd);
  assertNotCutOff(loaded.home);
  const plugins = await loadPlugins(loaded);
  const deps = createSessionDeps(loaded, env, { plugins, windowCharacters: UNSHOWN_CHARACTERS });
  // Leases between processes go by the machine's own clock, not by one that LILY_NOW has moved.
  const storage = await openStorage(loaded, env, { clock: systemClock(), ids: deps.ids }, mayOnlyRead);
  const notices = [
    zoneProblem(loaded.config, env),
    storage.notice,
    ...plugins.problems.map(pluginProblemText),
  ];
  const notice = joined(notices, "\n");
  return {
    ...loaded,
    storage,
    ...(notice === "" ? {} : { notice }),
    async close() {
      await deps.outside?.close();
      await storage.close();
    },
    deps: {
      ...deps,
      storageName: `${storage.name} in ${storage.location}`,
      fencedStore: storage.fencedStore,
      searchesByMeaning: storage.fillVectors !== undefined,
    },
  };
}

async function openStorage(
  loaded: LoadedConfig,
  env: Environment,
  { clock, ids }: Pick<SessionDeps, "clock" | "ids">,
  mayOnlyRead: boolean,
): Promise<StorageBackend> {
  const { storage } = loaded.config;
  const index = indexOf(loaded, env);
  if (storage.backend === "memory") return createMemoryBackend({ clock, index });
  if (storage.backend === "postgres") {
    const { openPostgresBackend } = await import("#src/storage/postgres/postgres-backend.ts");
    return openPostgresBackend({ connection: postgresUrl(env), schema: storage.schema, index, clock, ids });
  }
  return openSqliteBackend({
    checkpointPath: resolve(join(loaded.home, storage.checkpoints)),
    storePath: resolve(join(loaded.home, storage.store)),
    clock,
    index,
    mayOnlyRead,
  });
}

/** Facts and documents alone are given to an embedder: conversations are nobody's business but the model's that answers. */
function indexOf({ config }: LoadedConfig, env: Environment): StoreIndex {
  const { embedder: reference, dimensions } = config.memory;
  const server = { ...openAISettingsOf(env), ...defined({ dimensions }) };
  const embed = createEmbedder(reference, server);
  return { fields: indexFieldsOf, ...(embed === undefined ? {} : { embed, isEmbedded: isMemory }) };
}

function postgresUrl(env: Environment): string {
  const url = env["LILY_POSTGRES_URL"]?.trim();
  if (url !== undefined && url !== "") return url;
  throw new LilyError("config_invalid", "storage.backend is postgres, and LILY_POSTGRES_URL is not set", {
    next: "Set it to postgresql://user:password@host:5432/database.",
  });
}

/** Makes the classifiers: the built-in one, and chat models by their references. */
export function createTopicClassifiers(models: ChatModels): TopicClassifiers {
  const builtIn = createLexicalTopics();
  return (controlModel, { deadlineMs }) =>
    controlModel === BUILT_IN
      ? builtIn
      : createControlModelTopics({ models, model: controlModel, deadlineMs });
}
