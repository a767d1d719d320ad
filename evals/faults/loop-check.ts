/** What the clients of a kill loop are told to do and write down, and what holds of everything that they have stored. */
import { join } from "node:path";
import { z } from "zod";
import { systemClock, systemIds } from "#src/app/system.ts";
import { verifyOwner } from "#src/sessions/verify.ts";
import { chainProblems, orderProblems, toolProblems, turnProblems, wholeTurnProblems } from "./invariants.ts";
import { readStored, turnsOf } from "./stored.ts";
import { openSubject, OWNER, readLines, readToolLog, type Subject } from "./subject.ts";

/** What a client is started with. */
export const clientOrderSchema = z.strictObject({ folder: z.string(), client: z.int(), key: z.string() });
export type ClientOrder = z.infer<typeof clientOrderSchema>;

/** Files in the folder of a loop, a line for each time. */
export const LOGS = {
  /** The number of each message of a client that was answered. */
  acknowledged: (folder: string, client: number) => join(folder, `client-${client}.log`),
  /** The text of each message that was told as failed. */
  failed: (folder: string) => join(folder, "failed.log"),
  /** The text of each message whose tool a person is about to approve. */
  approved: (folder: string) => join(folder, "approved.log"),
} as const;

/** The delivery id of a message. */
export const deliveryOf = (client: number, number: number): string => `c${client}-${number}`;

/** The text of a message: most are chat; some end the session, some need tools, some a person's approval. */
export function textOf(client: number, number: number): string {
  const text = `client ${client} says ${number}`;
  if (number % 11 === 5) return `/new ${text}`;
  if (number % 4 === 2) return `ask for ${text}`;
  return number % 7 === 3 ? `tools ${text}` : text;
}

/** The name of the n-th key, from 0. */
export const keyOf = (key: number): string => `crowd:${key}`;

/** What is stored of a key. */
export interface KeyResult {
  readonly key: string;
  readonly processes: number;
  readonly killed: number;
  /** Messages that were acknowledged. */
  readonly acknowledged: number;
  readonly turns: number;
  readonly sessions: number;
  /** Times that a person said yes. */
  readonly approved: number;
  /** Approved calls that were cut off by a kill: begun, and without an end. */
  readonly cutOff: number;
  readonly problems: readonly string[];
}

/** Checks the files in `folder`. `killed` is how often each client was killed. */
export async function checkLoop(
  folder: string,
  keys: number,
  killed: readonly number[],
): Promise<{ keys: KeyResult[]; problems: string[] }> {
  const subject = openSubject({ folder, clock: systemClock(), ids: systemIds });
  try {
    const results: KeyResult[] = [];
    for (let key = 0; key < keys; key += 1) {
      const clients = killed.map((times, client) => ({ client, times }));
      const own = clients.filter(({ client }) => client % keys === key);
      results.push(await checkKey(subject, { folder, key: keyOf(key), clients: own }));
    }
    const { problems: seals } = await verifyOwner(subject.sessions.repository, OWNER);
    const told = results.flatMap(({ key, problems }) => problems.map((problem) => `${key}: ${problem}`));
    const broken = seals.map(
      ({ sessionKey, ordinal, problem }) => `seal: ${sessionKey} session ${ordinal}: ${problem}`,
    );
    return { keys: results, problems: [...told, ...broken] };
  } finally {
    await subject.close();
  }
}

async function checkKey(
  subject: Subject,
  on: {
    readonly folder: string;
    readonly key: string;
    readonly clients: readonly { readonly client: number; readonly times: number }[];
  },
): Promise<KeyResult> {
  const { folder, key, clients } = on;
  const sent = clients.map(({ client }) =>
    readLines(LOGS.acknowledged(folder, client)).map((line) => ({
      id: deliveryOf(client, Number(line)),
      text: textOf(client, Number(line)),
    })),
  );
  const texts = new Set(sent.flat().map(({ text }) => text));
  const failed = new Set(readLines(LOGS.failed(folder)));
  const approved = readLines(LOGS.approved(folder)).filter((text) => texts.has(text));
  const log = readToolLog(folder).filter((line) => texts.has(textOfLine(line)));
  const asked = log.filter(isAsked);
  const stored = await readStored(subject, key);
  if (stored === undefined) throw new Error(`nothing is stored of ${key}`);
  const ids = sent.map((messages) => messages.map(({ id }) => id));
  return {
    key,
    processes: clients.length,
    killed: clients.reduce((sum, { times }) => sum + times, 0),
    acknowledged: ids.flat().length,
    turns: turnsOf(stored).length,
    sessions: stored.chain.sessions.length,
    approved: approved.length,
    cutOff: countOf(asked, "begin") - countOf(asked, "end"),
    problems: [
      ...chainProblems(stored),
      ...turnProblems(stored, ids.flat()),
      ...ids.flatMap((own) => orderProblems(stored, own)),
      ...wholeTurnProblems(stored),
      // What was told as failed is sent again by its client, and begins anew, tools included.
      ...toolProblems(log.filter((line) => !isAsked(line) && !failed.has(textOfLine(line)))),
      ...approvalProblems(asked, approved),
    ],
  };
}

/** The text of the message for which a tool wrote a line: `begin ask for …#b`. */
const textOfLine = (line: string): string => line.replace(/^(?:begin|end) /u, "").replace(/#[ab]$/u, "");

/** Its second tool asks a person. */
const isAsked = (line: string): boolean => /^(?:begin|end) ask .*#b$/u.test(line);

const countOf = (lines: readonly string[], word: string): number =>
  lines.filter((line) => line.startsWith(`${word} `)).length;

/** A call that a person has to approve begins no more often than somebody said yes. */
function approvalProblems(asked: readonly string[], approved: readonly string[]): string[] {
  return [...new Set(asked.map(textOfLine))].flatMap((text) => {
    const begun = countOf(
      asked.filter((line) => textOfLine(line) === text),
      "begin",
    );
    const yes = approved.filter((other) => other === text).length;
    return begun <= yes ? [] : [`${text}: its tool ran ${begun} times, and was approved ${yes} times`];
  });
}
