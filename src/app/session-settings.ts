/** The parts of the session graph's dependencies that configuration alone decides. Pure. */
import { defined } from "#src/kernel/json.ts";
import { defaultModelReference } from "#src/models/model-reference.ts";
import type { PolicySources } from "#src/sessions/rollover-policy.ts";
import type { ToolPolicy } from "#src/tools/policy.ts";
import type { Config, Environment } from "./config.ts";
import type { SessionDeps } from "./session-deps.ts";

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
) {
  const { agents, limits } = config;
  const { defaults } = agents;
  const characters = limits.windowCharacters ?? windowCharacters;
  /** What is said of an agent, or else of all. */
  const of = (agent: string): Config["agents"][string] => ({ ...defaults, ...agents[agent] });
  return {
    agents: {
      defaultModel: (agent) => defaultModelReference(env, of(agent).model),
      temperature: (agent) => of(agent).temperature,
      manner(agent) {
        const { reasoning, verbosity } = of(agent);
        return defined({ reasoning, verbosity });
      },
      offersTools: (agent) => of(agent).tools !== false,
      toolPolicy: toolPolicyOf(config),
      fallbackModels: (agent) => of(agent).fallbacks ?? [],
      controlModels: (agent) => ({
        agent: agents[agent]?.controlModel,
        defaults: defaults?.controlModel,
      }),
      pluginChoices: (agent) => ({ agent: agents[agent]?.plugins, config: defaults?.plugins }),
      contextOf(agent) {
        const window = of(agent).contextTokens;
        // A window that somebody set counts in place of the limit that nobody did.
        return { window, limit: limits.contextTokens ?? (window === undefined ? CONTEXT_TOKENS : Infinity) };
      },
      defaultAgent: "lily",
      configuredAgents: Object.keys(agents).filter((name) => name !== "defaults"),
    },
    lifecycleMode: config.lifecycle.mode,
    policies: policiesOf(config, machineZone),
    limits: {
      ...limits,
      contextTokens: limits.contextTokens ?? CONTEXT_TOKENS,
      windowCharacters: characters,
      isShown: characters > UNSHOWN_CHARACTERS,
    },
    isWithPeople: (sessionKey) => saidOf(config, sessionKey, "people") === true,
    memory: {
      enabled: config.memory.enabled,
      tool: config.memory.tool,
      // What several people read keeps its own, so that nothing private is told there.
      of: (sessionKey) =>
        saidOf(config, sessionKey, "memory") ?? (READ_BY_SEVERAL.test(sessionKey) ? "own" : "shared"),
    },
    extractsUnits: config.units.extract,
    priceOf: (model) => config.models[model]?.price,
    botNames: config.botNames,
    localOwner: config.owner,
    arrivalsOf: (sessionKey) =>
      rulesFor(config, sessionKey).reduce(
        (policy, { arrivals }) => Object.assign({}, policy, arrivals),
        config.arrivals,
      ),
  } satisfies Partial<SessionDeps>;
}

function policiesOf({ agents, keys, rollover, timeZone }: Config, machineZone: () => string): PolicySources {
  return {
    base: {
      ...rollover,
      get timeZone() {
        return timeZone ?? machineZone();
      },
    },
    byKeyPrefix: keys,
    byAgent: Object.fromEntries(Object.entries(agents).map(([name, agent]) => [name, agent.rollover])),
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

/** Parts of a key by which channels name what several people read, as `composeSessionKey` puts them together. */
const READ_BY_SEVERAL = /(?:^|:)(?:group|supergroup|channel|room)(?::|$)/u;

/** The rules of a key by its prefixes; the longest has the last word. */
function rulesFor({ keys }: Config, sessionKey: string): Config["keys"] {
  return keys
    .filter(({ prefix }) => sessionKey.startsWith(prefix))
    .toSorted((a, b) => a.prefix.length - b.prefix.length);
}

function saidOf<Name extends "people" | "memory">(
  config: Config,
  sessionKey: string,
  name: Name,
): Config["keys"][number][Name] {
  return rulesFor(config, sessionKey).findLast((rule) => rule[name] !== undefined)?.[name];
}
