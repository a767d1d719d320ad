/** Lily as a benchmark drives it: the application of a home folder, in conversations that have their length already. */
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import Database from "better-sqlite3";
import { openLocalSessions, type LocalSessions } from "#graphs/session/local.ts";
import { openApp, type App } from "#src/app/open-app.ts";
import { systemClock, systemIds } from "#src/app/system.ts";
import { linkTurn, textHashOf, unlinkTurn } from "#src/sessions/seal.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { openSqliteBackend } from "#src/storage/sqlite/sqlite-backend.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import { benchText, InstantModel } from "./instant-model.ts";
import { questions } from "./plain-agent.ts";

/** A morning, so that the day does not end during a run. */
const NOW = "2026-03-01T09:00:00Z";

/** Turns that are driven behind written ones: the first reads what was written, the others are warm. */
const DRIVEN = 3;

/** Lily with conversations of one length. */
export interface Lily {
  /** The next turn. A conversation that has grown by a fifth is left for the next one. */
  turn(): Promise<void>;
  /** Waits for what runs beside turns. */
  settled(): Promise<void>;
  /** Bytes of its two files on the disk. */
  bytes(): Promise<number>;
  close(): Promise<void>;
}

/** Opens Lily in `folder` with as many conversations of `turns` turns as `samples` measured turns take. */
export async function openLily(folder: string, turns: number, samples: number): Promise<Lily> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "config.json"), JSON.stringify({ timeZone: "UTC" }));
  const app = await openApp({ LILY_HOME: folder, LILY_NOW: NOW }, folder);
  const sessions = sessionsOf(app);
  const turnsEach = Math.max(4, Math.floor(turns / 5));
  const next = questions(turns);
  const { owner } = app.config;
  const send = async (sessionKey: string): Promise<void> => {
    const { outcome, envelope } = await sessions.send({ owner, sessionKey, content: next() });
    if (outcome !== "answered") throw new Error(`the turn ended as ${outcome}: ${envelope.message}`);
  };
  const keys = Array.from({ length: Math.ceil(samples / turnsEach) }, (_, index) => `bench:${index}`);
  for (const key of keys) {
    await send(key);
    await writeTurns(app, sessions, { key, upTo: turns - DRIVEN });
    for (let driven = 0; driven < DRIVEN; driven += 1) await send(key);
  }
  await sessions.settled();
  let taken = 0;
  return {
    turn: () => send(keys[Math.min(Math.floor(taken++ / turnsEach), keys.length - 1)] ?? "bench:0"),
    settled: sessions.settled,
    async bytes() {
      await sessions.settled();
      return Object.values(filesOf(app)).reduce((sum, file) => sum + foldedBytes(file), 0);
    },
    async close() {
      await sessions.settled();
      await app.storage.close();
    },
  };
}

function sessionsOf({ config, deps, storage }: App): LocalSessions {
  const model = new InstantModel({});
  return openLocalSessions(
    {
      ...deps,
      agents: { ...deps.agents, defaultModel: () => "openai:instant" },
      models: { chatModel: async () => model },
    },
    storage,
    { keepTurns: config.storage.keepTurns },
  );
}

/** Continues a transcript by sealed records like its last one, as the commit writes them, up to turn `upTo`. */
async function writeTurns(
  app: App,
  { repository }: LocalSessions,
  { key: sessionKey, upTo }: { readonly key: string; readonly upTo: number },
): Promise<void> {
  const { owner } = app.config;
  const sessionId = (await repository.readChain({ owner, sessionKey }))?.latest ?? "";
  const ref = { owner, sessionKey, sessionId };
  let last = await repository.readTurn(ref, 1);
  if (last === undefined) throw new Error(`there is no turn on ${sessionKey}`);
  // Without a wait for the disk after each: that takes the most of a write.
  const quick = openSqliteBackend({ ...filesOf(app), clock: systemClock(), synchronous: "NORMAL" });
  const writing = createStoreSessionRepository(quick.store);
  while (last.turn < upTo) {
    last = nextRecord(last);
    await writing.writeTurn(ref, last);
  }
  await quick.close();
}

function nextRecord(before: TurnRecord): TurnRecord {
  const { body, head } = unlinkTurn(before);
  const turn = body.turn + 1;
  const question = benchText(turn, "question");
  const messages = body.messages.map((message) => ({
    ...message,
    content: message.role === "user" ? question : benchText(turn, "answer"),
  }));
  const explanation = { ...body.explanation, requestId: systemIds.uuid() };
  const said = { deliveryId: systemIds.uuid(), textHash: textHashOf(question), messages, explanation };
  return linkTurn({ ...body, turn, ...said }, { head, salt: systemIds.salt() });
}

const filesOf = ({ home, config: { storage } }: App) => ({
  checkpointPath: resolve(join(home, storage.checkpoints)),
  storePath: resolve(join(home, storage.store)),
});

/** Bytes of a SQLite file with its write-ahead log folded in. */
function foldedBytes(path: string): number {
  const db = new Database(path);
  db.pragma("wal_checkpoint(TRUNCATE)");
  db.close();
  return statSync(path).size;
}
