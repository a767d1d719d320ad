/** A process that talks to one key until it is told to end: `client <json>`. It may be killed at any time. */
import { appendFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { systemClock, systemIds } from "#src/app/system.ts";
import { clientOrderSchema, deliveryOf, LOGS, textOf } from "./loop-check.ts";
import { createGate, type Gate } from "./gate.ts";
import { isAcknowledged, openSubject, readLines, type Subject } from "./subject.ts";

/** Sent as often as it takes; more often than this says that something is stuck. */
const ATTEMPTS = 300;
/** So long that it can be killed between a tool's first line and its result. */
const TOOL_MS = 25;

async function main(text: string): Promise<void> {
  const { client, folder, key } = clientOrderSchema.parse(JSON.parse(text));
  const gate = createGate();
  const subject = openSubject({ folder, clock: systemClock(), ids: systemIds, gate, toolMs: TOOL_MS });
  const ending = new AbortController();
  process.once("message", () => ending.abort());
  process.send?.("ready");
  const acknowledged = LOGS.acknowledged(folder, client);
  let number = readLines(acknowledged).length;
  do {
    number += 1;
    const message = { id: deliveryOf(client, number), text: textOf(client, number), key };
    await sendUntilAcknowledged({ subject, gate, folder }, message);
    appendFileSync(acknowledged, `${number}\n`);
  } while (!ending.signal.aborted);
  await subject.close();
  process.disconnect();
}

async function sendUntilAcknowledged(
  on: { readonly subject: Subject; readonly gate: Gate; readonly folder: string },
  message: { readonly id: string; readonly text: string; readonly key: string },
): Promise<void> {
  const { subject, gate, folder } = on;
  let told = "";
  let isAsked = false;
  for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
    if (isAsked) {
      gate.arm(({ name, side }) => {
        if (name === "tool begins" && side === "after") process.send?.("runs");
      });
      appendFileSync(LOGS.approved(folder), `${message.text}\n`);
      process.send?.("approves");
    }
    const reply = await subject.send(isAsked ? { ...message, direct: "approve" } : message);
    gate.disarm();
    if (isAcknowledged(reply)) return;
    told = reply.envelope.message;
    isAsked = reply.envelope.code === "turn_waiting";
    if (isAsked) continue;
    appendFileSync(LOGS.failed(folder), `${message.text}\n`);
    await sleep(20);
  }
  throw new Error(`${message.id}: ${told}`);
}

await main(process.argv[2] ?? "");
