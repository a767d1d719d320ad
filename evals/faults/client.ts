/** A process that talks to one key until all its messages are acknowledged: `client <json>`. It may be killed at any time. */
import { appendFileSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "#src/kernel/clock.ts";
import { systemClock, systemIds } from "#src/app/system.ts";
import { acknowledgementsOf, clientOrderSchema, deliveryOf, failuresOf, textOf } from "./client-order.ts";
import { createGate } from "./gate.ts";
import { createRandom } from "./random.ts";
import { isAcknowledged, openSubject } from "./subject.ts";
import type { Thinking } from "./thinking.ts";

/** Sent as often as it takes; more often than this says that something is stuck. */
const ATTEMPTS = 300;

const HOUR = 3_600_000;
/** By hours; back before anything that was said; and to the hours that summer time takes and gives. */
const JUMPS: readonly ((now: number) => number)[] = [
  (now) => now,
  (now) => now + 2 * HOUR,
  (now) => now - 2 * HOUR,
  (now) => now - 72 * HOUR,
  () => Date.parse("2026-03-29T00:59:59.500Z"),
  () => Date.parse("2026-10-25T00:59:59.500Z"),
];

/** As in a terminal: what led to a call is stored once the model has thought for long, as it does about some messages. */
const SOMETIMES_LONG: Thinking = {
  persistAfterMs: 5,
  think: (text) => (/[27]$/u.test(text) ? sleep(12) : Promise.resolve()),
};

async function main(text: string): Promise<void> {
  const order = clientOrderSchema.parse(JSON.parse(text));
  const { client, folder, key, messages, seed } = order;
  const random = createRandom(seed);
  const { clock, jump } = jumpingClock(order.jumps, random);
  const gate = createGate();
  const config = { timeZone: "Europe/Berlin", agents: { defaults: { model: "scripted:subject" } } };
  const subject = openSubject({ folder, clock, ids: systemIds, config, gate, thinks: SOMETIMES_LONG });
  let points = 0;
  gate.arm(() => {
    points += 1;
    if (points === order.killAt) process.kill(process.pid, "SIGKILL");
  });
  console.log("ready");
  const log = acknowledgementsOf(folder, client);
  for (let number = countOf(log) + 1; number <= messages; number += 1) {
    for (let attempt = 1; ; attempt += 1) {
      jump();
      const reply = await subject.send({ id: deliveryOf(client, number), text: textOf(client, number), key });
      if (isAcknowledged(reply)) break;
      appendFileSync(failuresOf(folder), `${textOf(client, number)}\n`);
      if (attempt === ATTEMPTS) throw new Error(`message ${number}: ${reply.envelope.message}`);
      await sleep(10 + random() * 20);
    }
    appendFileSync(log, `${number}\n`);
  }
  await subject.close();
}

function countOf(log: string): number {
  try {
    return readFileSync(log, "utf8").split("\n").length - 1;
  } catch {
    // Nothing was acknowledged yet.
    return 0;
  }
}

function jumpingClock(jumps: boolean, random: () => number): { clock: Clock; jump: () => void } {
  const real = systemClock();
  let shift = 0;
  const jump = (): void => {
    const target = JUMPS[Math.floor(random() * JUMPS.length)]?.(real.now()) ?? real.now();
    shift = jumps ? target - real.now() : 0;
  };
  return { jump, clock: { now: () => real.now() + shift, monotonic: () => real.monotonic() } };
}

await main(process.argv[2] ?? "");
