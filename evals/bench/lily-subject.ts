/** Lily as a benchmark subject: the application of a home folder, opened and asked as the terminal does it. */
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import { openApp } from "#src/app/open-app.ts";
import type { TurnEvent } from "#src/turns/runner.ts";
import { openLocalSessions } from "#graphs/session/local.ts";
import { InstantModel } from "./instant-model.ts";
import { lookUp } from "./look-up.ts";
import type { Subject, SubjectOptions } from "./subject.ts";

/** Options of {@link openLilySubject}. */
interface LilyOptions extends SubjectOptions {
  /** Told of what happens during a turn. */
  readonly onEvent?: (event: TurnEvent) => void;
  /** When its clock starts; the morning of a day by default, so that the day does not end meanwhile. */
  readonly now?: string;
}

const MORNING = "2026-03-01T09:00:00Z";

/** Later than any benchmark has driven a conversation, and before it has been idle for too long. */
export const EVENING = "2026-03-01T18:00:00Z";

/** Opens Lily with its default configuration. No network: the model is in the process. */
export async function openLilySubject(folder: string, options: LilyOptions): Promise<Subject> {
  const configFile = join(folder, "config.json");
  if (!existsSync(configFile)) {
    mkdirSync(folder, { recursive: true });
    // In any other zone the day could end between morning and evening.
    writeFileSync(configFile, JSON.stringify({ timeZone: "UTC" }));
  }
  const env = { LILY_HOME: folder, LILY_NOW: options.now ?? MORNING };
  const { config, deps, storage } = await openApp(env, folder);
  const model = new InstantModel(options);
  const sessions = openLocalSessions(
    {
      ...deps,
      defaultModel: () => "openai:instant",
      models: { chatModel: async () => model },
      ...(options.usesTools ? { tools: [lookUp] } : {}),
    },
    storage,
    { keepTurns: config.storage.keepTurns },
  );
  const { owner } = config;
  const watching = options.onEvent === undefined ? {} : { onEvent: options.onEvent };
  return {
    async turn(conversation, text) {
      const request = { owner, sessionKey: conversation, content: text, ...watching };
      const { outcome, envelope, announcement } = await sessions.send(request);
      if (outcome !== "answered") throw new Error(`the turn ended as ${outcome}: ${envelope.message}`);
      if (announcement !== undefined) throw new Error(`the session ended: ${announcement}`);
    },
    async readState(conversation) {
      const chain = await sessions.repository.readChain({ owner, sessionKey: conversation });
      if (chain === undefined) throw new Error(`there is no conversation ${conversation}`);
      // What the terminal does before it shows its prompt.
      await sessions.unanswered({ owner, sessionKey: conversation });
    },
    given: () => model.given,
    async settle() {
      await sessions.settled();
      for (const path of [config.storage.checkpoints, config.storage.store]) foldLog(join(folder, path));
    },
    async close() {
      await sessions.settled();
      await storage.close();
    },
  };
}

function foldLog(path: string): void {
  const db = new Database(path);
  db.pragma("wal_checkpoint(TRUNCATE)");
  db.close();
}
