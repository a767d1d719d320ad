/** Lily on SQLite files in a folder, with a model, a tool and a classifier that are scripted, behind a gate. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type LocalSessions, openLocalSessions } from "#graphs/session/local.ts";
import { configSchema } from "#src/app/config.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { sessionSettings, UNSHOWN_CHARACTERS } from "#src/app/session-settings.ts";
import type { Clock } from "#src/kernel/clock.ts";
import type { Ids } from "#src/kernel/ids.ts";
import { createScriptedChatModels, type ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import type { StorageBackend } from "#src/storage/backend.ts";
import { openSqliteBackend } from "#src/storage/sqlite/sqlite-backend.ts";
import { ContextWindows } from "#src/models/context-windows.ts";
import { ShownTurns } from "#src/turns/shown-turns.ts";
import { StopRegistry } from "#src/turns/stop.ts";
import { noThreadRegistrar } from "#src/turns/thread-registrar.ts";
import type { TurnReply } from "#src/turns/turn-reply.ts";
import { createGate, type Gate } from "./gate.ts";
import { contentOf, partsOf, sendDirectly, type SubjectMessage } from "./direct-runs.ts";
import { askTool, noteTool, scriptedModel, scriptedTopics } from "./scripted-parts.ts";

export { partsOf, type SubjectMessage } from "./direct-runs.ts";

export const OWNER = "local";
export const KEY = "faults:main";

/** What a subject is opened with. */
export interface SubjectOptions {
  readonly folder: string;
  readonly clock: Clock;
  /** By which leases run out; `clock` unless given. */
  readonly leaseClock?: Clock;
  readonly ids: Ids;
  /** Parts of `config.json`. */
  readonly config?: object;
  readonly gate?: Gate;
  /** Every call of the model fails that could: see `scripted-parts.ts`. */
  readonly isModelDown?: boolean;
  /** How long the tool takes between its two lines. */
  readonly toolMs?: number;
  /** Turns whose checkpoints are kept; 1 unless given. */
  readonly keepTurns?: number;
}

/** A running Lily. */
export interface Subject {
  readonly sessions: LocalSessions;
  readonly storage: StorageBackend;
  readonly model: ScriptedChatModel;
  /** Sends, and waits for the upkeep after it. */
  send(message: SubjectMessage): Promise<TurnReply>;
  /** From here on the model can be reached. */
  reachModel(): void;
  close(): Promise<void>;
}

/** The piece of a slow answer before which a user who stops it does so. */
const STOPPED_PIECE = 3;

/** Opens Lily in `folder`. */
export function openSubject(options: SubjectOptions): Subject {
  const { gate = createGate(), clock, folder } = options;
  const storage = openSqliteBackend({
    checkpointPath: join(folder, "checkpoints", "checkpointer.sqlite"),
    storePath: join(folder, "memory", "store.sqlite"),
    clock: options.leaseClock ?? clock,
  });
  let onSlowChunk = (): void => undefined;
  let isDown = options.isModelDown === true;
  const model = scriptedModel({ onSlowChunk: () => onSlowChunk(), isDown: () => isDown });
  const { keepTurns = 1 } = options;
  const deps = depsOf(options, { gate, model, storage });
  const sessions = openLocalSessions(deps, storage, { keepTurns });
  const sendOne = (message: SubjectMessage, stop: AbortController): Promise<TurnReply> => {
    const { id, key = KEY } = message;
    const ref = { owner: OWNER, sessionKey: key };
    if (message.direct !== undefined) return sendDirectly({ sessions, storage }, ref, message);
    return sessions.send({ ...ref, content: contentOf(message), deliveryId: id, stop: stop.signal });
  };
  return {
    sessions,
    storage,
    model,
    async send(message) {
      const stop = new AbortController();
      let pieces = 0;
      onSlowChunk = () => {
        pieces += 1;
        if (message.stops === true && pieces === STOPPED_PIECE) stop.abort(new Error("stopped by the user"));
      };
      const replies = await Promise.all(partsOf(message).map((part) => sendOne(part, stop)));
      const [told] = replies.toSorted((a, b) => Number(isAcknowledged(a)) - Number(isAcknowledged(b)));
      if (told === undefined) throw new Error("nothing was sent");
      return told;
    },
    reachModel() {
      isDown = false;
    },
    async close() {
      await sessions.settled();
      await storage.close();
    },
  };
}

function depsOf(
  { folder, clock, ids, config = {}, toolMs = 0 }: SubjectOptions,
  made: { readonly gate: Gate; readonly model: ScriptedChatModel; readonly storage: StorageBackend },
): SessionDeps {
  const parsed = configSchema.parse({
    timeZone: "UTC",
    agents: { defaults: { model: "scripted:subject" } },
    ...config,
  });
  const noted = { gate: made.gate, file: toolLog(folder), toolMs };
  const surroundings = { machineZone: () => "UTC", windowCharacters: UNSHOWN_CHARACTERS };
  return {
    ...sessionSettings(parsed, {}, surroundings),
    clock,
    ids,
    models: createScriptedChatModels({ "scripted:subject": made.model }),
    topics: () => scriptedTopics,
    stops: new StopRegistry(),
    threads: noThreadRegistrar,
    storageName: "faults",
    fencedStore: made.storage.fencedStore,
    shownTurns: new ShownTurns(),
    windows: new ContextWindows(clock),
    tools: [noteTool(noted), askTool(noted), noteTool(noted, "change")],
    sleep: async () => undefined,
  };
}

/** Where the tool of a subject writes. */
const toolLog = (folder: string): string => join(folder, "tools.log");

/** What the tool began with and finished, in order, as `begin <id>` and `end <id>`. */
export function readToolLog(folder: string): string[] {
  return readLines(toolLog(folder));
}

/** The lines of a log; none when nothing was ever written to it. */
export function readLines(file: string): string[] {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : [];
}

/** Whether the sender was told that the message was handled. */
export function isAcknowledged({ outcome }: TurnReply): boolean {
  return outcome === "answered" || outcome === "rotated" || outcome === "command";
}
