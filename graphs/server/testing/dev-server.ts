/** A `langgraphjs dev` server for tests: offline, on a free port, in a folder of its own, gone when it is stopped. */
import { spawn } from "node:child_process";
import {
  copyFileSync,
  createWriteStream,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "#src/app/testing/free-port.ts";

/** A running server. */
export interface DevServer {
  readonly url: string;
  /** Where its data lies. */
  readonly dataFolder: string;
  /** Time from the start to the first answer. */
  readonly startedInMs: number;
  /** What it printed so far, without colours. */
  log(): string;
  /** Ends the server and starts it again on the same data and address. `SIGTERM` lets it save, `SIGKILL` does not. */
  restart(signal?: "SIGTERM" | "SIGKILL"): Promise<void>;
  /** Ends the server with all its processes and removes its folder. */
  stop(): Promise<void>;
}

const REPOSITORY = resolve(import.meta.dirname, "../../..");
const CLI = "node_modules/@langchain/langgraph-cli/dist/cli/cli.mjs";
const START_DEADLINE_MS = 60_000;
/** Told to end, it saves its data first; beside many others that takes its time. */
const STOP_DEADLINE_MS = 30_000;

/** Settings of the machine that would change what the server does. */
const FOREIGN_SETTING = /^(?:OPENAI|LANGSMITH|LANGCHAIN|LANGGRAPH|LILY|VITEST|NODE)_/u;

/** Starts a server with the environment `extra` and waits until it answers. @throws with its log when it does not */
export async function startDevServer(extra: Readonly<Record<string, string>> = {}): Promise<DevServer> {
  const folder = projectFolder();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const startedAt = performance.now();
  let leader = spawnServer(folder, port, extra);
  // A test run that is broken off leaves no server behind.
  process.once("exit", () => signalGroup(leader, "SIGKILL"));
  const log = () => withoutColours(readFileSync(join(folder, "server.log"), "utf8"));
  const stop = async () => {
    await endGroup(leader, "SIGTERM");
    rmSync(folder, { recursive: true, force: true });
  };
  const mustAnswer = async () => {
    if (await answers(`${url}/ok`)) return;
    const printed = log();
    await stop();
    throw new Error(`the server did not answer within ${START_DEADLINE_MS} ms:\n${printed}`);
  };
  await mustAnswer();
  return {
    url,
    dataFolder: join(folder, ".langgraph_api"),
    startedInMs: performance.now() - startedAt,
    log,
    stop,
    async restart(signal = "SIGTERM") {
      await endGroup(leader, signal);
      leader = spawnServer(folder, port, extra);
      await mustAnswer();
    },
  };
}

/** The project by links: the server writes its state, and into `.gitignore`, where `langgraph.json` lies. */
function projectFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "lily-server-"));
  for (const name of ["graphs", "src", "node_modules", "package.json"])
    symlinkSync(join(REPOSITORY, name), join(folder, name));
  copyFileSync(join(REPOSITORY, "langgraph.json"), join(folder, "langgraph.json"));
  writeFileSync(join(folder, ".gitignore"), ".langgraph_api\n");
  return folder;
}

function spawnServer(folder: string, port: number, extra: Readonly<Record<string, string>>): number {
  const kept = Object.entries(process.env).filter(([name]) => !FOREIGN_SETTING.test(name));
  const child = spawn(
    process.execPath,
    [
      join(REPOSITORY, CLI),
      "dev",
      "--no-browser",
      "--no-reload",
      "--host",
      "127.0.0.1",
      "--port",
      String(port),
    ],
    {
      cwd: folder,
      // A group of its own, so that the loader and the server, which it starts, end with it.
      detached: true,
      env: {
        ...Object.fromEntries(kept),
        LANGGRAPH_CLI_NO_ANALYTICS: "1",
        LANGSMITH_TRACING: "false",
        ...extra,
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const log = createWriteStream(join(folder, "server.log"), { flags: "a" });
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  if (child.pid === undefined) throw new Error("the server could not be started");
  return child.pid;
}

async function answers(url: string): Promise<boolean> {
  const deadline = performance.now() + START_DEADLINE_MS;
  while (performance.now() < deadline) {
    const response = await fetch(url).catch(() => undefined);
    if (response?.ok === true) return true;
    await sleep(100);
  }
  return false;
}

/** Asks the group to end, and ends it when it does not. */
async function endGroup(leader: number, signal: NodeJS.Signals): Promise<void> {
  const deadline = performance.now() + STOP_DEADLINE_MS;
  let isAlive = signalGroup(leader, signal);
  while (isAlive && performance.now() < deadline) {
    await sleep(50);
    isAlive = signalGroup(leader, 0);
  }
  if (isAlive) signalGroup(leader, "SIGKILL");
}

function signalGroup(leader: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-leader, signal);
  } catch {
    // The group is gone.
    return false;
  }
}

function withoutColours(text: string): string {
  // oxlint-disable-next-line no-control-regex -- escape sequences are what this removes
  return text.replaceAll(/\u001b\[\d+m/gu, "");
}
