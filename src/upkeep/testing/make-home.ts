/** Home folders for tests: real files with real turns, which the graph without a model answered. */
import { cpSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { temporaryFolder } from "#memory/stores/sqlite/testing/temporary-folder.ts";
import { openApp } from "#src/app/open-app.ts";
import { openLocalSessions } from "#graphs/session/local.ts";
import type { Home } from "../home.ts";

/** A home folder that is removed with the test. */
export function emptyHome(): Home {
  const folder = join(temporaryFolder(), "home");
  mkdirSync(folder);
  return homeIn(folder);
}

/** The default places in `folder`. */
export function homeIn(folder: string): Home {
  return {
    folder,
    databases: {
      checkpoints: join(folder, "checkpoints", "checkpointer.sqlite"),
      store: join(folder, "memory", "store.sqlite"),
    },
  };
}

/** Lily on a home folder, as another process would have it open. */
export interface OpenLily {
  /** Sends a message on a key and waits for the reply. */
  say(content: string, sessionKey?: string): Promise<string>;
  /** What users said on a key, over all of its sessions. */
  said(sessionKey?: string): Promise<string[]>;
  close(): Promise<void>;
}

const KEY = "cli:main";

/** Opens Lily on `home`. */
export async function openLily(home: Home): Promise<OpenLily> {
  const { deps, storage, config } = await openApp({ LILY_HOME: home.folder }, home.folder);
  const sessions = openLocalSessions(deps, storage, { keepTurns: config.storage.keepTurns });
  const { owner } = config;
  return {
    async say(content, sessionKey = KEY) {
      const { envelope } = await sessions.send({ owner, sessionKey, content });
      return envelope.message;
    },
    async said(sessionKey = KEY) {
      const chain = await sessions.repository.readChain({ owner, sessionKey });
      const said: string[] = [];
      for (const { sessionId } of chain?.sessions ?? []) {
        const ref = { owner, sessionKey, sessionId };
        const last = await sessions.repository.lastStoredTurn(ref);
        const turns = await sessions.repository.readTurns(ref, { from: 1, to: last });
        said.push(...turns.flatMap(({ messages }) => messages.slice(0, 1).map(({ content }) => content)));
      }
      return said;
    },
    async close() {
      await sessions.settled();
      await storage.close();
    },
  };
}

/** Homes by what was said in them; tests are given copies. */
const made = new Map<string, string>();

afterAll(() => {
  for (const folder of made.values()) rmSync(folder, { recursive: true, force: true });
  made.clear();
});

/** A home in which `messages` were said, one turn each; nobody has it open. */
export async function homeWith(...messages: readonly string[]): Promise<Home> {
  const said = messages.join("\n");
  const template = made.get(said) ?? mkdtempSync(join(tmpdir(), "lily-home-"));
  if (!made.has(said)) await sayIn(homeIn(template), ...messages);
  made.set(said, template);
  const home = emptyHome();
  cpSync(template, home.folder, { recursive: true });
  return home;
}

/** Says `messages` in a home that nobody has open. */
export async function sayIn(home: Home, ...messages: readonly string[]): Promise<void> {
  const lily = await openLily(home);
  for (const message of messages) await lily.say(message);
  await lily.close();
}

/** What was said in a home that nobody has open. */
export async function saidIn(home: Home): Promise<string[]> {
  const lily = await openLily(home);
  try {
    return await lily.said();
  } finally {
    await lily.close();
  }
}
