/** The parts of the session graph's dependencies that configuration alone decides. Pure. */
import { defaultModelReference } from "#src/models/resolve-model.ts";
import type { Config, Environment } from "./config.ts";
import type { SessionDeps } from "./session-deps.ts";

type Settings = Pick<
  SessionDeps,
  | "defaultModel"
  | "temperature"
  | "fallbackModels"
  | "controlModels"
  | "lifecycleMode"
  | "policies"
  | "limits"
  | "memory"
  | "botNames"
  | "defaultAgent"
  | "localOwner"
  | "arrivals"
>;

/** Clients of a LangGraph server show the state's `messages` as the conversation: the newest dozen turns or so. */
const SHOWN_CHARACTERS = 12_000;

/** Settings of a configuration. `machineZone` holds where no zone is configured, and is asked for when a rule is. */
export function sessionSettings(config: Config, env: Environment, machineZone: () => string): Settings {
  const agents = Object.entries(config.agents);
  return {
    defaultModel: (agent) =>
      defaultModelReference(env, config.agents[agent]?.model ?? config.agents["defaults"]?.model),
    temperature: (agent) => config.agents[agent]?.temperature ?? config.agents["defaults"]?.temperature,
    fallbackModels: (agent) => config.agents[agent]?.fallbacks ?? config.agents["defaults"]?.fallbacks ?? [],
    controlModels: (agent) => ({
      agent: agent === "defaults" ? undefined : config.agents[agent]?.controlModel,
      defaults: config.agents["defaults"]?.controlModel,
    }),
    lifecycleMode: config.lifecycle.mode,
    policies: {
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
    },
    limits: { ...config.limits, windowCharacters: config.limits.windowCharacters ?? SHOWN_CHARACTERS },
    memory: { enabled: config.memory.enabled, tool: config.memory.tool },
    botNames: config.botNames,
    defaultAgent: "lily",
    localOwner: config.owner,
    arrivals: {
      base: config.arrivals,
      byKeyPrefix: config.keys.flatMap(({ prefix, arrivals }) =>
        arrivals === undefined ? [] : [{ prefix, arrivals }],
      ),
    },
  };
}
