/** The parts of the session graph's dependencies that configuration alone decides. Pure. */
import { defaultModelReference } from "#src/models/model-reference.ts";
import type { ToolPolicy } from "#src/tools/policy.ts";
import type { Manner } from "#src/sessions/session-fields.ts";
import type { PluginSources } from "#src/preparation/plugins.ts";
import type { Config, Environment } from "./config.ts";
import type { SessionDeps } from "./session-deps.ts";

type Settings = Pick<
  SessionDeps,
  | "defaultModel"
  | "temperature"
  | "manner"
  | "offersTools"
  | "toolPolicy"
  | "fallbackModels"
  | "controlModels"
  | "lifecycleMode"
  | "policies"
  | "limits"
  | "contextOf"
  | "priceOf"
  | "memory"
  | "extractsUnits"
  | "isWithPeople"
  | "botNames"
  | "defaultAgent"
  | "configuredAgents"
  | "localOwner"
  | "arrivals"
  | "pluginChoices"
>;

/** Clients of a LangGraph server show the state's `messages` as the conversation: the newest dozen turns or so. */
const SHOWN_CHARACTERS = 12_000;

/** Who talks to sessions of a home folder is shown transcripts: the state is stored with each turn, and is kept small. */
export const UNSHOWN_CHARACTERS = 3_000;

/** Tokens of a prompt where nothing is configured: what a long conversation costs stays small. */
const CONTEXT_TOKENS = 12_000;

/** What holds where nothing is configured. */
export interface Surroundings {
  /** Asked for when a rule is. */
  readonly machineZone: () => string;
  /** Of committed turns in the state's `messages`. */
  readonly windowCharacters?: number;
}

/** Settings of a configuration. */
export function sessionSettings(
  config: Config,
  env: Environment,
  { machineZone, windowCharacters = SHOWN_CHARACTERS }: Surroundings,
): Settings {
  const characters = config.limits.windowCharacters ?? windowCharacters;
  return {
    defaultModel: (agent) =>
      defaultModelReference(env, config.agents[agent]?.model ?? config.agents["defaults"]?.model),
    temperature: (agent) => config.agents[agent]?.temperature ?? config.agents["defaults"]?.temperature,
    manner: (agent) => mannerOf(config, agent),
    offersTools: (agent) => (config.agents[agent]?.tools ?? config.agents["defaults"]?.tools) !== false,
    toolPolicy: toolPolicyOf(config),
    fallbackModels: (agent) => config.agents[agent]?.fallbacks ?? config.agents["defaults"]?.fallbacks ?? [],
    controlModels: (agent) => ({
      agent: agent === "defaults" ? undefined : config.agents[agent]?.controlModel,
      defaults: config.agents["defaults"]?.controlModel,
    }),
    pluginChoices: (agent) => pluginChoices(config, agent),
    lifecycleMode: config.lifecycle.mode,
    policies: policiesOf(config, machineZone),
    limits: {
      ...config.limits,
      contextTokens: config.limits.contextTokens ?? CONTEXT_TOKENS,
      windowCharacters: characters,
      isShown: characters > UNSHOWN_CHARACTERS,
    },
    isWithPeople: (sessionKey) => isWithPeople(config, sessionKey),
    memory: {
      enabled: config.memory.enabled,
      tool: config.memory.tool,
      of: (sessionKey) => memoryOf(config, sessionKey),
    },
    extractsUnits: config.units.extract,
    priceOf: (model) => config.models[model]?.price,
    contextOf: (agent) => contextOf(config, agent),
    botNames: config.botNames,
    defaultAgent: "lily",
    configuredAgents: Object.keys(config.agents).filter((name) => name !== "defaults"),
    localOwner: config.owner,
    arrivals: arrivalsOf(config),
  };
}

function arrivalsOf({ arrivals: base, keys }: Config): NonNullable<SessionDeps["arrivals"]> {
  return {
    base,
    byKeyPrefix: keys.flatMap(({ prefix, arrivals }) =>
      arrivals === undefined ? [] : [{ prefix, arrivals }],
    ),
  };
}

function policiesOf(config: Config, machineZone: () => string): SessionDeps["policies"] {
  const agents = Object.entries(config.agents);
  return {
    base: {
      ...config.rollover,
      get timeZone() {
        return config.timeZone ?? machineZone();
      },
    },
    byKeyPrefix: config.keys.flatMap(({ prefix, rollover }) =>
      rollover === undefined ? [] : [{ prefix, rollover }],
    ),
    byAgent: Object.fromEntries(
      agents.flatMap(([name, { rollover }]) => (rollover === undefined ? [] : [[name, rollover]])),
    ),
  };
}

function mannerOf({ agents }: Config, agent: string): Manner {
  const { [agent]: own, defaults } = agents;
  const reasoning = own?.reasoning ?? defaults?.reasoning;
  const verbosity = own?.verbosity ?? defaults?.verbosity;
  return {
    ...(reasoning === undefined ? {} : { reasoning }),
    ...(verbosity === undefined ? {} : { verbosity }),
  };
}

/** An agent's own rules, those of all agents, and those of all tools. */
function toolPolicyOf({ agents: { defaults, ...agents }, tools: { policy } }: Config): ToolPolicy {
  const own = Object.entries(agents).flatMap(([name, { tools }]) =>
    typeof tools === "object" ? [[name, tools] as const] : [],
  );
  return {
    agents: Object.fromEntries(own),
    all: [...(typeof defaults?.tools === "object" ? [defaults.tools] : []), policy],
  };
}

function pluginChoices({ agents }: Config, agent: string): Pick<PluginSources, "agent" | "config"> {
  return {
    agent: agent === "defaults" ? undefined : agents[agent]?.plugins,
    config: agents["defaults"]?.plugins,
  };
}

/** A window that somebody set counts in place of the limit that nobody did. */
function contextOf({ agents, limits }: Config, agent: string): ReturnType<SessionDeps["contextOf"]> {
  const window = agents[agent]?.contextTokens ?? agents["defaults"]?.contextTokens;
  return { window, limit: limits.contextTokens ?? (window === undefined ? CONTEXT_TOKENS : Infinity) };
}

/** The longest prefix that says so. */
function isWithPeople({ keys }: Config, sessionKey: string): boolean {
  const said = keys
    .filter(({ prefix, people }) => people !== undefined && sessionKey.startsWith(prefix))
    .toSorted((a, b) => b.prefix.length - a.prefix.length);
  return said[0]?.people === true;
}

/** Parts of a key by which channels name what several people read, as `composeSessionKey` puts them together. */
const READ_BY_SEVERAL = /(?:^|:)(?:group|supergroup|channel|room)(?::|$)/u;

/** The longest prefix that says so; else what several people read keeps its own, so that nothing private is told there. */
function memoryOf({ keys }: Config, sessionKey: string): "shared" | "own" | "none" {
  const said = keys
    .filter(({ prefix, memory }) => memory !== undefined && sessionKey.startsWith(prefix))
    .toSorted((a, b) => b.prefix.length - a.prefix.length);
  return said[0]?.memory ?? (READ_BY_SEVERAL.test(sessionKey) ? "own" : "shared");
}
