/** A `lily serve` of its own process, for proofs that end one. */
import { spawn, type ChildProcess } from "node:child_process";
import { resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort } from "#src/app/testing/free-port.ts";

/** A running server. */
export interface ServerProcess {
  readonly url: string;
  /** Ends it as a power cut of the process would. */
  kill(): Promise<void>;
  /** Asks it to end, and waits until it has. @returns its exit code */
  drain(): Promise<number | null>;
  log(): string;
}

const PROGRAM = resolve(import.meta.dirname, "../../src/cli/lily.mjs");
const START_DEADLINE_MS = 60_000;

/** Starts a server with `env` beside the environment of this process, and waits until it is ready. */
export async function startServer(env: Readonly<Record<string, string>>): Promise<ServerProcess> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  let log = "";
  const child = spawn(process.execPath, [PROGRAM, "serve", "--port", String(port)], {
    env: { ...process.env, OPENAI_API_KEY: "", OPENAI_BASE_URL: "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (log += String(chunk)));
  const ended = new Promise<number | null>((done) => child.once("exit", (code) => done(code)));
  const server = {
    url,
    log: () => log,
    async kill() {
      child.kill("SIGKILL");
      await ended;
    },
    drain() {
      child.kill("SIGTERM");
      return ended;
    },
  };
  await untilReady(url, child, () => log);
  return server;
}

async function untilReady(url: string, child: ChildProcess, log: () => string): Promise<void> {
  const deadline = performance.now() + START_DEADLINE_MS;
  while (performance.now() < deadline && child.exitCode === null) {
    const answer = await fetch(`${url}/lily/v1/ready`).catch(() => undefined);
    if (answer?.ok === true) return;
    await sleep(100);
  }
  child.kill("SIGKILL");
  throw new Error(`the server did not begin to answer:\n${log()}`);
}
