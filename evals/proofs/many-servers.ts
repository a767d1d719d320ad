/**
 * Eight clients on three keys against four `lily serve` processes on one PostgreSQL database, one of which is killed in
 * the middle. Every client sends a message again, under the same delivery id and to another server, until it is answered.
 * Proves: each message is in exactly one transcript, in the order in which its client sent them, and every seal is true.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { startPostgres } from "#memory/stores/postgres/testing/start-postgres.ts";
import { startServer, type ServerProcess } from "./start-server.ts";

const CLIENTS = 8;
const KEYS = ["team:a", "team:b", "team:c"] as const;
const SERVERS = 4;
const MESSAGES = Number(process.env["LILY_MESSAGES"] ?? 25);
const GIVE_UP_AFTER = 200;

const replySchema = z.object({ outcome: z.string(), sessionId: z.string(), repeated: z.boolean() });
const sessionsSchema = z.object({
  sessions: z.array(z.object({ sessionId: z.string() })),
});
const historySchema = z.object({
  turns: z.array(
    z.object({
      turn: z.number(),
      messages: z.array(z.object({ role: z.string(), content: z.string() })),
    }),
  ),
  /** Where the next page begins. */
  next: z.number().nullable(),
});

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
    const startedMs = performance.now();
    const sent = await converse(servers);
    const seconds = (performance.now() - startedMs) / 1000;
    const problems = await check(servers[1]?.url ?? "", sent);
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

/** All clients at once; the first server is killed when a third of the messages are answered. */
async function converse(servers: readonly ServerProcess[]): Promise<Sent[]> {
  const sent: Sent[] = [];
  let killed: Promise<void> | undefined;
  const clients = Array.from({ length: CLIENTS }, async (_unused, client) => {
    const key = KEYS[client % KEYS.length] ?? KEYS[0];
    for (let number = 1; number <= MESSAGES; number += 1) {
      const message: Sent = { key, client, text: `client ${client} says ${number}`, attempts: 0 };
      await deliver(servers, message);
      sent.push(message);
      if (sent.length >= (CLIENTS * MESSAGES) / 3) killed ??= servers[0]?.kill();
    }
  });
  await Promise.all(clients);
  await killed;
  return sent;
}

async function deliver(servers: readonly ServerProcess[], message: Sent): Promise<void> {
  const { client, key, text } = message;
  for (; message.attempts < GIVE_UP_AFTER;) {
    const server = servers[(client + message.attempts) % servers.length];
    message.attempts += 1;
    const response = await fetch(`${server?.url}/lily/v1/keys/${encodeURIComponent(key)}/messages`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ content: text, deliveryId: text }),
    }).catch(() => undefined);
    if (response?.ok === true && replySchema.parse(await response.json()).outcome === "answered") return;
    await sleep(20);
  }
  throw new Error(`${JSON.stringify(text)} was not answered after ${GIVE_UP_AFTER} attempts`);
}

async function check(url: string, sent: readonly Sent[]): Promise<string[]> {
  const problems: string[] = [];
  for (const key of KEYS) {
    const base = `${url}/lily/v1/keys/${encodeURIComponent(key)}`;
    const { sessions } = sessionsSchema.parse(await (await fetch(`${base}/sessions`)).json());
    const said: string[] = [];
    for (const { sessionId } of sessions) said.push(...(await userTexts(`${base}/sessions/${sessionId}`)));
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
    const verified = await (await fetch(`${base}/verify`)).json();
    if (!z.object({ ok: z.literal(true) }).safeParse(verified).success)
      problems.push(`${key}: ${JSON.stringify(verified)}`);
  }
  return problems;
}

async function userTexts(session: string): Promise<string[]> {
  const texts: string[] = [];
  for (let from: number | null = 1; from !== null;) {
    const answer: unknown = await (await fetch(`${session}/history?from=${from}`)).json();
    const { turns, next } = historySchema.parse(answer);
    const messages = turns.flatMap((turn) => turn.messages);
    texts.push(...messages.filter(({ role }) => role === "user").map(({ content }) => content));
    from = next;
  }
  return texts;
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

await main();
