/** Several processes on few keys, some of which are killed and started again; then what they have stored is checked. */
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock, systemIds } from "#src/app/system.ts";
import { verifyOwner } from "#src/sessions/verify.ts";
import { deliveryOf, failuresOf, type ClientOrder } from "./client-order.ts";
import { chainProblems, orderProblems, toolProblems, turnProblems, wholeTurnProblems } from "./invariants.ts";
import { createRandom } from "./random.ts";
import { removeFolder, temporaryFolder } from "./run-scenario.ts";
import { readStored } from "./stored.ts";
import { openSubject, OWNER, readLines, readToolLog, type Subject } from "./subject.ts";

/** What a crowd does. */
export interface CrowdPlan {
  readonly processes: number;
  /** Of each process. */
  readonly messages: number;
  readonly keys: number;
  readonly seed: number;
  /** Where processes are killed: at a point of their own, from outside at any moment, or nowhere. */
  readonly kills: "points" | "outside" | "none";
  /** How often at most. */
  readonly killCount: number;
  readonly jumps: boolean;
}

/** What came of it. */
export interface CrowdResult {
  readonly killed: number;
  readonly turns: number;
  /** Begins and ends of tools that came a second time, after their message was told as failed and sent again. */
  readonly again: number;
  readonly problems: readonly string[];
}

/** Starts of one client, more than which say that it makes no progress. */
const STARTS = 200;
/** A process kills itself within about three messages. */
const POINTS_AHEAD = 150;
/** A process is killed from outside within this time after it is ready. */
const KILL_WITHIN_MS = 400;

/** Runs a plan in a folder of its own. `program` is the bundled client. */
export async function runCrowd(plan: CrowdPlan, program: string): Promise<CrowdResult> {
  const folder = temporaryFolder();
  const random = createRandom(plan.seed);
  let killsLeft = plan.kills === "none" ? 0 : plan.killCount;
  let killed = 0;
  const problems: string[] = [];
  const runClient = async (client: number): Promise<void> => {
    for (let start = 1; start <= STARTS; start += 1) {
      const kills = killsLeft > 0;
      if (kills) killsLeft -= 1;
      const order: ClientOrder = {
        folder,
        client,
        key: `crowd:${client % plan.keys}`,
        messages: plan.messages,
        seed: Math.floor(random() * 2 ** 31),
        jumps: plan.jumps,
        ...(kills && plan.kills === "points" ? { killAt: 1 + Math.floor(random() * POINTS_AHEAD) } : {}),
      };
      const killAfterMs = kills && plan.kills === "outside" ? random() * KILL_WITHIN_MS : undefined;
      const ended = await startClient(program, order, killAfterMs);
      if (ended.signal !== "SIGKILL") {
        if (ended.code !== 0) problems.push(`client ${client} ended with ${ended.code}: ${ended.output}`);
        return;
      }
      killed += 1;
    }
    problems.push(`client ${client} was started ${STARTS} times and did not end`);
  };
  await Promise.all(Array.from({ length: plan.processes }, (_unused, client) => runClient(client)));
  const checked = await check(folder, plan);
  if (problems.length + checked.problems.length === 0) removeFolder(folder);
  else problems.push(`the files are kept in ${folder}`);
  return { killed, turns: checked.turns, again: checked.again, problems: [...problems, ...checked.problems] };
}

interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
}

function startClient(program: string, order: ClientOrder, killAfterMs: number | undefined): Promise<Ended> {
  const child = spawn(process.execPath, [program, JSON.stringify(order)], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (output += String(chunk)));
  if (killAfterMs !== undefined)
    child.stdout.once("data", () => void sleep(killAfterMs).then(() => child.kill("SIGKILL")));
  return new Promise((done) => {
    child.once("close", (code, signal) => done({ code, signal, output }));
  });
}

async function check(
  folder: string,
  plan: CrowdPlan,
): Promise<{ problems: string[]; turns: number; again: number }> {
  const subject = openSubject({ folder, clock: systemClock(), ids: systemIds });
  // Sending again what was told as failed begins anew, tools included: counted, and no fault of its own.
  const failed = readLines(failuresOf(folder));
  const wasFailed = (line: string): boolean => failed.some((text) => line.includes(` ${text}#`));
  const log = readToolLog(folder);
  const problems = toolProblems(log.filter((line) => !wasFailed(line)));
  const again = toolProblems(log.filter(wasFailed)).length;
  let turns = 0;
  try {
    for (let key = 0; key < plan.keys; key += 1) {
      const found = await checkKey(subject, plan, key);
      turns += found.turns;
      problems.push(...found.problems.map((problem) => `crowd:${key}: ${problem}`));
    }
    const { problems: seals } = await verifyOwner(subject.sessions.repository, OWNER);
    problems.push(
      ...seals.map(({ sessionKey, ordinal, problem }) => `${sessionKey} session ${ordinal}: ${problem}`),
    );
    return { problems, turns, again };
  } finally {
    await subject.close();
  }
}

async function checkKey(
  subject: Subject,
  { processes, messages, keys }: CrowdPlan,
  key: number,
): Promise<{ problems: string[]; turns: number }> {
  const stored = await readStored(subject, `crowd:${key}`);
  const clients = Array.from({ length: processes }, (_unused, client) => client).filter(
    (client) => client % keys === key,
  );
  // With more keys than processes some have nobody.
  if (stored === undefined) return { problems: clients.length === 0 ? [] : ["nothing is stored"], turns: 0 };
  const idsOf = (client: number): string[] =>
    Array.from({ length: messages }, (_unused, index) => deliveryOf(client, index + 1));
  return {
    turns: stored.sessions.reduce((sum, session) => sum + session.turns.length, 0),
    problems: [
      ...chainProblems(stored),
      ...turnProblems(stored, clients.flatMap(idsOf)),
      ...clients.flatMap((client) => orderProblems(stored, idsOf(client))),
      ...wholeTurnProblems(stored),
    ],
  };
}
