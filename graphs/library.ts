/**
 * Lily as a library: what `import … from "lily"` gives. Sessions of a home folder behind one call, the session graph for a
 * LangGraph server of your own, the durable store and the memory on it, and the session of a kernel that needs no graph.
 */
import type { StructuredToolInterface } from "@langchain/core/tools";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { openApp, type App } from "#src/app/open-app.ts";
import { systemClock, systemIds } from "#src/app/system.ts";
import { createMemorySession, type Session } from "#src/sessions/message.ts";
import type { ChatModels } from "#src/models/chat-model.ts";
import { createFactStore, type FactStore } from "#memory/facts/fact-store.ts";
import { createSecretlintScanner } from "#memory/policy/secret-scanner.ts";
import { openDatabase } from "#memory/stores/sqlite/open-database.ts";
import type { StoreIndex } from "#memory/stores/index-fields.ts";
import { SqliteStore } from "#memory/stores/sqlite/sqlite-store.ts";
import type { CompiledSessionGraph } from "./session/graph.ts";
import { openLocalSessions, type LocalSessions } from "./session/local.ts";

export { createSessionDeps } from "#src/app/open-app.ts";
export { loadConfig, type Config } from "#src/app/config.ts";
export type { SessionDeps } from "#src/app/session-deps.ts";
export { replyText } from "#src/kernel/envelope.ts";
export { LilyError, type ErrorCode } from "#src/kernel/errors.ts";
export type { ChatModels } from "#src/models/chat-model.ts";
export { ROLES, type Message, type Role, type ToolCall } from "#src/sessions/message.ts";
export type { Session } from "#src/sessions/message.ts";
export type { Approval, Decision } from "#src/tools/approval.ts";
export type { ApprovalAnswer } from "#src/turns/answer-approval.ts";
export type { TurnReply } from "#src/turns/turn-reply.ts";
export type { FactStore } from "#memory/facts/fact-store.ts";
export type { Embedder } from "#memory/embedding/embedder.ts";
export { compileSessionGraph, type CompiledSessionGraph } from "./session/graph.ts";

/** An empty session in memory, with a UUIDv7 of its own. */
export function createSession(): Session {
  return createMemorySession(systemIds);
}

/** Options of {@link openLily}. */
export interface LilyOptions {
  /** The home folder, made where it is missing; `:memory:` keeps nothing. */
  readonly home: string;
  /** What `process.env` would say, such as `OPENAI_API_KEY`; nothing by default, so that models are named in `config.json` or here. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where model references lead; by default to the OpenAI-compatible server of `env`. */
  readonly models?: ChatModels;
  /** Tools that the reply model is offered beside Lily's own. */
  readonly tools?: readonly StructuredToolInterface[];
}

/** Lily on a home folder. Any number of processes may open the same one. */
export interface Lily extends Pick<
  LocalSessions,
  "send" | "stop" | "approve" | "openApproval" | "repository"
> {
  /** The compiled graph on this home's checkpointer and store, for LangGraph's own methods. */
  readonly graph: CompiledSessionGraph;
  readonly store: BaseStore;
  readonly memory: FactStore;
  /** Whose data it is when nobody logs in, as `config.json` says. */
  readonly owner: string;
  /** Waits for what runs beside turns, and closes the files. */
  close(): Promise<void>;
}

/**
 * Opens Lily on a home folder.
 *
 * @throws {LilyError} `config_invalid`, or what the storage says of its files
 */
export async function openLily({ home, env = {}, models, tools }: LilyOptions): Promise<Lily> {
  const app = await openApp({ ...env, LILY_HOME: home }, process.cwd());
  const deps = {
    ...app.deps,
    ...(models === undefined ? {} : { models }),
    ...(tools === undefined ? {} : { tools }),
  };
  return lilyOf(app, openLocalSessions(deps, app.storage, { keepTurns: app.config.storage.keepTurns }));
}

function lilyOf({ config, storage, close }: App, sessions: LocalSessions): Lily {
  return {
    ...sessions,
    graph: sessions.graph,
    store: storage.store,
    memory: createMemory(storage.store),
    owner: config.owner,
    async close() {
      await sessions.settled();
      await close();
    },
  };
}

/** Long-term memory on any LangGraph store. */
export function createMemory(store: BaseStore): FactStore {
  return createFactStore(store, { clock: systemClock(), ids: systemIds, scan: createSecretlintScanner() });
}

/**
 * A LangGraph store in one SQLite file, with full-text search and, with an embedder, search by meaning.
 *
 * @param file made where it is missing; `:memory:` keeps nothing
 * @throws {LilyError} a storage error that names the file
 */
export function openSqliteStore(
  file: string,
  index: StoreIndex = {},
): { readonly store: SqliteStore; close(): void } {
  const db = openDatabase(file, { synchronous: "FULL" });
  try {
    return { store: new SqliteStore(db, { clock: systemClock(), index }), close: () => void db.close() };
  } catch (error) {
    db.close();
    throw error;
  }
}
