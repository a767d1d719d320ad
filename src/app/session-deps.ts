/** What the session graph is built with; `src/app` makes the real ones, tests make others. */
import type { StructuredToolInterface } from "@langchain/core/tools";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import type { AgentFiles } from "#src/agents/agent-files.ts";
import type { Clock } from "#src/kernel/clock.ts";
import type { Ids } from "#src/kernel/ids.ts";
import type { CommandFiles } from "#src/commands/command.ts";
import type { PriceOf } from "#src/explain/trace.ts";
import type { PluginRegistry, PluginSources } from "#src/preparation/plugins.ts";
import type { ChatModels } from "#src/models/chat-model.ts";
import type { ConfiguredWindow, ContextWindows } from "#src/models/context-windows.ts";
import type { LifecycleMode, PolicySources, ControlModelSources } from "#src/sessions/rollover-policy.ts";
import type { TopicClassifier } from "#src/sessions/decide-rollover.ts";
import type { Manner } from "#src/sessions/session-fields.ts";
import type { ToolPolicy } from "#src/tools/policy.ts";
import type { LeaseRef } from "#src/storage/backend.ts";
import type { ArrivalPolicy } from "#src/turns/arrivals.ts";
import type { StopRegistry } from "#src/turns/stop.ts";
import type { ThreadRegistrar } from "#src/turns/thread-registrar.ts";
import type { SecretScanner } from "#memory/policy/secret-scanner.ts";
import type { OutsideTools } from "#src/tools/outside-tools.ts";
import type { Config } from "./config.ts";
import type { ShownTurns } from "#src/turns/shown-turns.ts";

/** The classifier of a control model: a model reference or `built-in`. It gives its word within the deadline. */
export type TopicClassifiers = (
  controlModel: string,
  options: { readonly deadlineMs: number },
) => TopicClassifier;

/** Sizes that keep a session bounded, as they are configured. */
export interface SessionLimits extends Readonly<Record<keyof Config["limits"], number>> {
  /** Clients show `messages` as the conversation: pictures stand in them, and what a page needs beside the newest turns. */
  readonly isShown: boolean;
}

/** What is configured of agents, which are named by their `agent`. */
export interface AgentSettings {
  /** Reference of the model that answers where nobody chose one, by agent. */
  readonly defaultModel: (agent: string) => string;
  /** References of the models that are asked in turn when the one that answers has failed. */
  readonly fallbackModels: (agent: string) => readonly string[];
  /** Sampling temperature by agent, where one is configured. */
  readonly temperature: (agent: string) => number | undefined;
  /** How the model of an agent answers where the user has not said so. */
  readonly manner: (agent: string) => Manner;
  /** Whether the model of an agent is offered tools. */
  readonly offersTools: (agent: string) => boolean;
  /** Rules for tools as they are configured now. */
  readonly toolPolicy: ToolPolicy;
  /** How much the model of an agent is given. */
  readonly contextOf: (agent: string) => ConfiguredWindow;
  /** Configured control models: the agent's own, and that of all agents. */
  readonly controlModels: (agent: string) => Omit<ControlModelSources, "session">;
  /** Those that the configuration chooses for an agent, and for all. */
  readonly pluginChoices: (agent: string) => Pick<PluginSources, "agent" | "config">;
  /** Agents that the configuration names. */
  readonly configuredAgents: readonly string[];
  readonly defaultAgent: string;
}

/** Dependencies of the session graph. */
export interface SessionDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly models: ChatModels;
  readonly agents: AgentSettings;
  /** What this process has learnt of the windows of models. */
  readonly windows: ContextWindows;
  /** What models cost, where it is configured. */
  readonly priceOf: PriceOf;
  readonly policies: PolicySources;
  readonly limits: SessionLimits;
  /** Whether memory is on, and whether the reply model is offered tools for it. */
  readonly memory: {
    readonly enabled: boolean;
    readonly tool: boolean;
    /** Whose facts and documents a session key reads and keeps: the owner's, its own, or none. */
    readonly of: (sessionKey: string) => "shared" | "own" | "none";
  };
  /** What takes knowledge units from messages: the control model where there is one, their sentences alone, or nothing. */
  readonly extractsUnits: "model" | "symbolic" | "off";
  /** Finds secrets in what is to be remembered; the real scanner by default. */
  readonly scanSecrets?: SecretScanner;
  /** Files of the person at this machine; only where nobody else gives commands. */
  readonly files?: CommandFiles;
  /** Whether people, and no assistant, answer on a key. */
  readonly isWithPeople: (sessionKey: string) => boolean;
  readonly botNames: readonly string[];
  /** Owner of a run that comes without an authenticated identity. */
  readonly localOwner: string;
  /** Persona files and skills; without it there are none. */
  readonly agentFiles?: AgentFiles;
  readonly topics: TopicClassifiers;
  readonly lifecycleMode: LifecycleMode;
  readonly stops: StopRegistry;
  /** What happens to a message that arrives during a turn. */
  readonly arrivalsOf: (sessionKey: string) => ArrivalPolicy;
  /** Told of the threads of a key: which one is latest, and which begin by a hand-off. */
  readonly threads: ThreadRegistrar;
  /** Where the data lies, for `/status`. */
  readonly storageName: string;
  /** The store under a lease; without it a run writes to the store it was given. */
  readonly fencedStore?: (lease: LeaseRef) => BaseStore;
  /** Whether the store finds facts by their meaning too. */
  readonly searchesByMeaning?: boolean;
  /** Turns that this process has read, as models are shown them. */
  readonly shownTurns: ShownTurns;
  /** Plugins of turn preparation; by default those that come with Lily. */
  readonly plugins?: PluginRegistry;
  /** Tools that the reply model is offered beside Lily's own. They are given the signal of the turn. */
  readonly tools?: readonly StructuredToolInterface[];
  /** Tools of MCP servers, and those that are built in and configured; a session has them as they were when it began. */
  readonly outside?: OutsideTools;
  /** Waits; for retries of a model, and for the end of a turn's time. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** From 0 to 1; spreads the retries of many callers. Left out, the waits are whole. */
  readonly random?: () => number;
}
