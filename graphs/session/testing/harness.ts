/** Whole turns in tests: the real graph and `runTurn` on a backend, with a clock, ids and models that are scripted. */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { MemorySaver } from "@langchain/langgraph-checkpoint";
import { configSchema } from "#src/app/config.ts";
import { createTopicClassifiers } from "#src/app/open-app.ts";
import { sessionSettings } from "#src/app/session-settings.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { createManualClock, type ManualClock } from "#src/kernel/clock.ts";
import { createSequentialIds } from "#src/kernel/ids.ts";
import { createScriptedChatModels, ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { type Chain, latestEntry } from "#src/sessions/chain.ts";
import { newestTurns } from "#src/sessions/transcript.ts";
import type { TopicClassifier } from "#src/sessions/decide-rollover.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import type { StorageBackend } from "#src/storage/backend.ts";
import { openSqliteBackend } from "#src/storage/sqlite/sqlite-backend.ts";
import { ContextWindows } from "#src/models/context-windows.ts";
import { ShownTurns } from "#src/turns/shown-turns.ts";
import { StopRegistry } from "#src/turns/stop.ts";
import { noThreadRegistrar } from "#src/turns/thread-registrar.ts";
import type { TurnRequest } from "#src/turns/run-turn.ts";
import type { TurnReply } from "#src/turns/turn-reply.ts";
import { compileSessionGraph } from "../graph.ts";
import { type LocalSessions, openLocalSessions } from "../local.ts";

/** Where scripted time begins: a Sunday morning in UTC. */
const START = Date.parse("2026-03-01T09:00:00.000Z");

export interface HarnessOptions {
  /** Answers; without it there is no model and the built-in solver answers. */
  readonly model?: BaseChatModel;
  readonly models?: Readonly<Record<string, BaseChatModel>>;
  /** Parts of `config.json`. */
  readonly config?: object;
  readonly startMs?: number;
  /** Says whether the topic changes, in place of the control model. */
  readonly topics?: TopicClassifier;
  /** Changes the dependencies, e.g. to break one. */
  readonly adjust?: (deps: SessionDeps) => SessionDeps;
  /** Fills the folder before it is opened, e.g. with the files of an earlier version. */
  readonly prepare?: (folder: string) => void;
  /** Wraps the storage, e.g. to fail a write. */
  readonly wrapStorage?: (storage: StorageBackend) => StorageBackend;
}

/** A running Lily under test. */
export interface Harness {
  readonly clock: ManualClock;
  readonly folder: string;
  readonly sessions: LocalSessions;
  readonly storage: StorageBackend;
  /** What its graphs are made with. */
  readonly deps: SessionDeps;
  /** Sends a message on a key (`test:main`); a fresh delivery id unless one is given. */
  send(content: unknown, options?: Partial<TurnRequest>): Promise<TurnReply>;
  chain(sessionKey?: string): Promise<Chain>;
  /** All turns of one session. */
  turns(sessionId: string, sessionKey?: string): Promise<TurnRecord[]>;
  /** Closes everything and opens the same files again, as a new process would, with `config` in `config.json`. */
  restart(config?: object): Promise<void>;
  /** Sends a message to a thread, ends the run before `node` as a killed process would, and restarts. */
  crashBefore(node: string, on: { threadId: string; deliveryId: string; text: string }): Promise<void>;
  close(): Promise<void>;
}

export const KEY = "test:main";
export const OWNER = "local";

/** A harness on SQLite files in a folder of its own. */
export async function createHarness(options: HarnessOptions = {}): Promise<Harness> {
  const folder = mkdtempSync(join(tmpdir(), "lily-test-"));
  options.prepare?.(folder);
  const clock = createManualClock(options.startMs ?? START);
  let seed = 0;
  let config = options.config ?? {};
  const open = () => {
    seed += 1;
    return openHarnessSessions(folder, clock, { ...options, config, seed });
  };
  let current = open();
  const restart = async (changed: object = config): Promise<void> => {
    config = changed;
    await current.sessions.settled();
    await current.storage.close();
    current = open();
  };
  return {
    clock,
    folder,
    get sessions() {
      return current.sessions;
    },
    get storage() {
      return current.storage;
    },
    get deps() {
      return current.deps;
    },
    send: (content, request = {}) =>
      current.sessions.send({ owner: OWNER, sessionKey: KEY, content, deliveryId: randomUUID(), ...request }),
    async chain(sessionKey = KEY) {
      const chain = await current.sessions.repository.readChain({ owner: OWNER, sessionKey });
      if (chain === undefined) throw new Error(`no chain for ${sessionKey}`);
      return chain;
    },
    async turns(sessionId, sessionKey = KEY) {
      const { repository } = current.sessions;
      const chain = await repository.readChain({ owner: OWNER, sessionKey });
      if (chain === undefined) return [];
      const alone = { ...chain, sessions: chain.sessions.map((entry) => ({ ...entry, continues: [] })) };
      return newestTurns(repository, alone, { sessionId, count: 10_000 });
    },
    restart,
    async crashBefore(node, { threadId, deliveryId, text }) {
      const graph = compileSessionGraph(current.deps, current.storage);
      const stream = await graph.stream(
        { messages: [{ role: "user", content: text, id: deliveryId }] },
        {
          configurable: { thread_id: threadId },
          context: { owner: OWNER, sessionKey: KEY, followsHandoff: true, fence: undefined },
          interruptBefore: [node] as never,
          streamMode: "updates",
        },
      );
      for await (const _update of stream);
      await restart();
    },
    async close() {
      await current.sessions.settled();
      await current.storage.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

function openHarnessSessions(
  folder: string,
  clock: ManualClock,
  options: HarnessOptions & { readonly seed: number },
) {
  const ids = createSequentialIds(options.seed);
  const opened = openSqliteBackend({
    checkpointPath: join(folder, "checkpoints", "checkpointer.sqlite"),
    storePath: join(folder, "memory", "store.sqlite"),
    clock,
  });
  const storage = options.wrapStorage?.(opened) ?? opened;
  const config = harnessConfig(options);
  const models = {
    ...(options.model === undefined ? {} : { "scripted:test": options.model }),
    ...options.models,
  };
  const chatModels = createScriptedChatModels(models);
  const { topics } = options;
  const deps: SessionDeps = {
    ...sessionSettings(config, {}, { machineZone: () => "UTC" }),
    clock,
    ids,
    models: chatModels,
    topics: topics === undefined ? createTopicClassifiers(chatModels) : () => topics,
    stops: new StopRegistry(),
    threads: noThreadRegistrar,
    storageName: "test",
    fencedStore: (lease) => storage.fencedStore(lease),
    shownTurns: new ShownTurns(),
    windows: new ContextWindows(clock),
    sleep: async () => undefined,
  };
  const adjusted = options.adjust?.(deps) ?? deps;
  const sessions = openLocalSessions(adjusted, storage, {
    keepTurns: config.storage.keepTurns,
    erasing: { keyWaitMs: 20 },
  });
  return { sessions, storage, deps: adjusted };
}

/** The given configuration, in UTC, with the given model for all agents unless it names another. */
function harnessConfig({ config = {}, model }: HarnessOptions) {
  const parsed = configSchema.parse({ timeZone: "UTC", ...config });
  const defaults = {
    ...(model === undefined ? {} : { model: "scripted:test" }),
    ...parsed.agents["defaults"],
  };
  return { ...parsed, agents: { ...parsed.agents, defaults } };
}

/** The latest session of a chain. */
export const latestOf = (chain: Chain) => latestEntry(chain);

/** A model that answers each message with "re: " and the message. */
export const echoModel = (): ScriptedChatModel => new ScriptedChatModel();

/** What a scripted model was given in one call, as `role: text` lines without the system prompt. */
export function inputOf(model: ScriptedChatModel, call = model.calls.length - 1): string[] {
  return (model.calls[call]?.messages ?? [])
    .filter((message) => message.type !== "system")
    .map(
      (message) =>
        `${message.type}: ${typeof message.content === "string" ? message.content : JSON.stringify(message.content)}`,
    );
}

/** What a scripted model was told in one call beside the conversation: its instructions, and the notes on what holds now. */
export function systemOf(model: ScriptedChatModel, call = model.calls.length - 1): string {
  return (model.calls[call]?.messages ?? [])
    .flatMap(({ type, content }) => (type === "system" && typeof content === "string" ? [content] : []))
    .join("\n\n");
}

/** As on a LangGraph server: a checkpointer stores every step, and keeps it over restarts. */
export function storingAll(): Pick<HarnessOptions, "wrapStorage"> {
  const checkpointer = Object.assign(new MemorySaver(), {
    retain: async () => 0,
    takeDropped: () => false,
  });
  return { wrapStorage: (storage) => ({ ...storage, checkpointer }) };
}
