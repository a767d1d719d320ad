/**
 * Several processes on few keys, one of which is killed by SIGKILL again and again: at any moment, and between a person's
 * approval and the result of the approved tool. Then what all of them have stored is checked.
 */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { bundleProgram } from "#src/app/testing/bundle-program.ts";
import { checkLoop, keyOf, type ClientOrder, type KeyResult } from "./loop-check.ts";
import { removeFolder, temporaryFolder } from "./run-scenario.ts";

/** What a loop does. */
export interface LoopPlan {
  /** Kills. */
  readonly rounds: number;
  readonly seed: number;
  readonly processes: number;
  readonly keys: number;
}

/** What came of it. */
export interface LoopResult {
  readonly keys: readonly KeyResult[];
  /** What does not hold, in words. */
  readonly problems: readonly string[];
}

/** When a process is killed, in turn: within a time after it has said a word, or after the round has begun. */
const MOMENTS = [
  { word: undefined, withinMs: 400 },
  { word: "approves", withinMs: 60 },
  { word: "runs", withinMs: 25 },
] as const;
/** Longer than any lease, and what waits for it. */
const PATIENCE_MS = 60_000;

/** A running client. */
interface Client {
  readonly child: ChildProcess;
  readonly ready: Promise<unknown>;
  readonly ended: Promise<string>;
}

/** Runs a plan in a folder of its own, which is kept when something does not hold. */
export async function killLoop(plan: LoopPlan, onRound?: (round: number) => void): Promise<LoopResult> {
  const folder = temporaryFolder();
  const program = bundleProgram(join(import.meta.dirname, "client.ts"));
  const random = createRandom(plan.seed);
  const start = (client: number): Client =>
    startClient(program, { folder, client, key: keyOf(client % plan.keys) });
  const clients = Array.from({ length: plan.processes }, (_unused, client) => start(client));
  const problems: string[] = [];
  const killed = clients.map(() => 0);
  for (let round = 1; round <= plan.rounds && problems.length === 0; round += 1) {
    await Promise.all(clients.map(({ ready }) => ready));
    const moment = MOMENTS[round % MOMENTS.length] ?? MOMENTS[0];
    const victim =
      moment.word === undefined
        ? Math.floor(random() * clients.length)
        : await nextSays(clients, moment.word);
    await sleep(random() * moment.withinMs);
    const { child, ended } = clients[victim] ?? start(victim);
    child.kill("SIGKILL");
    const end = await ended;
    if (end !== "SIGKILL") problems.push(`client ${victim} ended by itself: ${end}`);
    killed[victim] = (killed[victim] ?? 0) + 1;
    clients[victim] = start(victim);
    onRound?.(round);
  }
  problems.push(...(await endAll(clients)));
  const checked = await checkLoop(folder, plan.keys, killed);
  problems.push(...checked.problems);
  if (problems.length === 0) removeFolder(folder);
  else problems.push(`the files are kept in ${folder}`);
  return { keys: checked.keys, problems };
}

function startClient(program: string, order: ClientOrder): Client {
  const child = fork(program, [JSON.stringify(order)], { silent: true, execArgv: [] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (output += String(chunk)));
  const ended = once(child, "close").then(([code, signal]: unknown[]) =>
    typeof signal === "string" ? signal : code === 0 ? "" : `exit code ${String(code)}: ${output}`,
  );
  return { child, ended, ready: Promise.race([once(child, "message"), ended]) };
}

/** @returns the number of the client that next says `word`; of the first one when nobody does in time */
function nextSays(clients: readonly Client[], word: string): Promise<number> {
  return new Promise((done) => {
    const listeners = clients.map(({ child }, client) => {
      const listener = (said: unknown): void => (said === word ? end(client) : undefined);
      child.on("message", listener);
      return { child, listener };
    });
    const timer = setTimeout(() => end(0), PATIENCE_MS);
    const end = (client: number): void => {
      clearTimeout(timer);
      for (const { child, listener } of listeners) child.off("message", listener);
      done(client);
    };
  });
}

/** Lets all clients end with the message that they have begun. @returns what does not hold, in words */
async function endAll(clients: readonly Client[]): Promise<string[]> {
  const ends = clients.map(async ({ child, ended, ready }, client) => {
    await ready;
    if (child.connected) child.send("end");
    const timer = setTimeout(() => child.kill("SIGKILL"), PATIENCE_MS);
    const end = await ended;
    clearTimeout(timer);
    return end === "" ? [] : [`client ${client} did not end in peace: ${end}`];
  });
  return (await Promise.all(ends)).flat();
}

/** Numbers between 0 and 1, the same for the same seed: the generator of Park and Miller. */
function createRandom(seed: number): () => number {
  const modulus = 2_147_483_647;
  let state = (seed % (modulus - 1)) + 1;
  return () => (state = (state * 48_271) % modulus) / modulus;
}
