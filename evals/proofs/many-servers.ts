/**
 * Eight clients on three keys against four `lily serve` processes on one PostgreSQL database, one of which is killed in
 * the middle. Every client sends a message again, under the same delivery id and to another server, until it is answered.
 * Proves: each message is in exactly one transcript, in the order in which its client sent them, and every seal is true.
 */
import { spawn, type ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { userTexts } from "#evals/graders/sessions.ts";
import { openRemoteRunner } from "#evals/harness/remote-runner.ts";
import type { Runner } from "#evals/harness/runner.ts";
import { startPostgres } from "#memory/stores/postgres/testing/start-postgres.ts";
import { freePort } from "#src/app/testing/free-port.ts";

const CLIENTS = 8;
const KEYS = ["team:a", "team:b", "team:c"] as const;
const SERVERS = 4;
const MESSAGES = Number(process.env["LILY_MESSAGES"] ?? 25);
const GIVE_UP_AFTER = 200;

const PROGRAM = resolve(import.meta.dirname, "../../src/cli/lily.mjs");
const START_DEADLINE_MS = 60_000;

interface Sent {
  readonly key: string;
  readonly client: number;
  readonly text: string;
  attempts: number;
}

async function main(): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), "lily-proof-"));
  const postgres = await startPostgres();
  const servers: ServerProcess[] = [];
  try {
    writeFileSync(join(home, "config.json"), JSON.stringify({ storage: { backend: "postgres" } }));
    const env = { LILY_HOME: home, LILY_POSTGRES_URL: await postgres.createDatabase() };
    servers.push(...(await Promise.all(Array.from({ length: SERVERS }, () => startServer(env)))));
    const runners = await Promise.all(servers.map(({ url }) => openRemoteRunner({ url })));
    const startedMs = performance.now();
    const sent = await converse(runners, servers[0]);
    const seconds = (performance.now() - startedMs) / 1000;
    const problems = await check(runners[1], sent);
    report(sent, problems, seconds);
    const codes = await Promise.all(servers.slice(1).map((server) => server.drain()));
    if (problems.length > 0 || codes.some((code) => code !== 0)) process.exitCode = 1;
    console.log(`drained by SIGTERM with exit codes ${codes.join(", ")}`);
  } finally {
    await Promise.all(servers.map((server) => server.kill()));
    await postgres.stop();
    rmSync(home, { recursive: true, force: true });
  }
}

/** All clients at once; the server `victim` is killed when a third of the messages are answered. */
async function converse(runners: readonly Runner[], victim: ServerProcess | undefined): Promise<Sent[]> {
  const sent: Sent[] = [];
  let killed: Promise<void> | undefined;
  const clients = Array.from({ length: CLIENTS }, async (_unused, client) => {
    const key = KEYS[client % KEYS.length] ?? KEYS[0];
    for (let number = 1; number <= MESSAGES; number += 1) {
      const message: Sent = { key, client, text: `client ${client} says ${number}`, attempts: 0 };
      await deliver(runners, message);
      sent.push(message);
      if (sent.length >= (CLIENTS * MESSAGES) / 3) killed ??= victim?.kill();
    }
  });
  await Promise.all(clients);
  await killed;
  return sent;
}

async function deliver(runners: readonly Runner[], message: Sent): Promise<void> {
  const { client, key, text } = message;
  while (message.attempts < GIVE_UP_AFTER) {
    const runner = runners[(client + message.attempts) % runners.length];
    message.attempts += 1;
    const reply = await runner?.send(key, text, { deliveryId: text }).catch(() => undefined);
    if (reply?.outcome === "answered") return;
    await sleep(20);
  }
  throw new Error(`${JSON.stringify(text)} was not answered after ${GIVE_UP_AFTER} attempts`);
}

async function check(runner: Runner | undefined, sent: readonly Sent[]): Promise<string[]> {
  const problems: string[] = [];
  for (const key of KEYS) {
    const said: string[] = [];
    for (const { sessionId } of (await runner?.sessions(key)) ?? [])
      said.push(...userTexts((await runner?.history(sessionId)) ?? []));
    const mine = sent.filter((message) => message.key === key).map(({ text }) => text);
    if (said.length !== mine.length)
      problems.push(`${key}: ${said.length} turns for ${mine.length} messages`);
    if (new Set(said).size !== said.length) problems.push(`${key}: a message is there twice`);
    for (let client = 0; client < CLIENTS; client += 1) {
      const order = said.filter((text) => text.startsWith(`client ${client} `));
      const wanted = mine.filter((text) => text.startsWith(`client ${client} `));
      if (order.join() !== wanted.join())
        problems.push(`${key}: the messages of client ${client} are out of order`);
    }
    const verified = await runner?.verify(key);
    if (verified?.ok !== true) problems.push(`${key}: ${verified?.problems.join("; ")}`);
  }
  return problems;
}

function report(sent: readonly Sent[], problems: readonly string[], seconds: number): void {
  const again = sent.filter(({ attempts }) => attempts > 1).length;
  console.log(
    `${sent.length} messages of ${CLIENTS} clients on ${KEYS.length} keys by ${SERVERS} servers, one killed: ` +
      `${seconds.toFixed(1)} s, ${again} sent more than once`,
  );
  console.log(
    problems.length === 0 ? "each is in one transcript, in order; every seal is true" : problems.join("\n"),
  );
}

/** A running server. */
interface ServerProcess {
  readonly url: string;
  /** Ends it as a power cut of the process would. */
  kill(): Promise<void>;
  /** Asks it to end, and waits until it has. @returns its exit code */
  drain(): Promise<number | null>;
}

/** Starts a `lily serve` of its own process, with `env` beside the environment of this process, and waits until it is ready. */
async function startServer(env: Readonly<Record<string, string>>): Promise<ServerProcess> {
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

await main();
