/** Brings a subject to the length at which it is measured, and weighs what it keeps on the way. */
import { mkdirSync } from "node:fs";
import { benchmarkText } from "./benchmark-text.ts";
import { conversationsFor, type CasePlan } from "./bench-plan.ts";
import type { DiskCosts } from "./bench-result.ts";
import { liveMemory } from "./collect-garbage.ts";
import { kindGrowth, lilyDisk } from "./lily-disk.ts";
import { openLilySubject } from "./lily-subject.ts";
import { openFloorSubject, openPlainSubject } from "./plain-subject.ts";
import { folderBytes, type Subject } from "./subject.ts";

/** A subject whose conversations have their length. */
export interface PreparedCase {
  readonly plan: CasePlan;
  readonly folder: string;
  readonly subject: Subject;
  readonly conversations: readonly string[];
  /** Turns of each conversation that are to be measured. */
  readonly turnsEach: number;
  readonly disk: DiskCosts | undefined;
  readonly heapGrowthBytes: number | undefined;
}

/** Turns of a subject that keeps nothing, before it is measured. */
const WARM_UP_TURNS = 100;

/** Name of the conversation that is weighed and resumed. */
export const FIRST_CONVERSATION = "bench:0";

/** Opens a subject in `folder` and prepares it for `samples` measured turns. */
export async function prepareCase(plan: CasePlan, folder: string, samples: number): Promise<PreparedCase> {
  mkdirSync(folder, { recursive: true });
  const { count, turnsEach } = conversationsFor(plan.turns, samples);
  const conversations = Array.from({ length: count }, (_, index) => `bench:${index}`);
  const opened = await open(plan, folder);
  const prepared = { plan, folder, subject: opened.subject, conversations, turnsEach };
  if (plan.turns === 0) await drive(opened.subject, FIRST_CONVERSATION, [0, WARM_UP_TURNS]);
  if (plan.turns === 0 || plan.isPreloaded) {
    for (const conversation of conversations) await opened.preload?.(conversation, plan.turns);
    return { ...prepared, disk: undefined, heapGrowthBytes: undefined };
  }
  // The first one while it is alone in its folder.
  const weighed = await driveAndWeigh(plan, folder, opened.subject);
  for (const conversation of conversations.slice(1))
    await drive(opened.subject, conversation, [0, plan.turns]);
  return { ...prepared, ...weighed };
}

interface Opened {
  readonly subject: Subject;
  preload?(conversation: string, turns: number): Promise<void>;
}

async function open({ subject: name, usesTools }: CasePlan, folder: string): Promise<Opened> {
  switch (name) {
    case "lily":
      return { subject: await openLilySubject(folder, { usesTools }) };
    case "lily-watched":
      return { subject: await openLilySubject(folder, { usesTools, onEvent: () => undefined }) };
    case "floor":
      return { subject: openFloorSubject({ usesTools }) };
    case "plain": {
      const subject = openPlainSubject(folder, { usesTools });
      return { subject, preload: subject.preload };
    }
  }
}

async function driveAndWeigh(
  plan: CasePlan,
  folder: string,
  subject: Subject,
): Promise<Pick<PreparedCase, "disk" | "heapGrowthBytes">> {
  const { turns } = plan;
  const weigh = async () => {
    await subject.settle();
    return { bytes: folderBytes(folder), kinds: plan.subject === "plain" ? [] : lilyDisk(folder) };
  };
  const heapBefore = liveMemory().heapBytes;
  const fromTurn = turns <= 100 ? turns / 2 : turns * 0.9;
  await drive(subject, FIRST_CONVERSATION, [0, fromTurn]);
  const before = await weigh();
  await drive(subject, FIRST_CONVERSATION, [fromTurn, turns]);
  const after = await weigh();
  return {
    disk: {
      totalBytes: after.bytes,
      bytesPerTurn: (after.bytes - before.bytes) / (turns - fromTurn),
      fromTurn,
      toTurn: turns,
      isComputed: false,
      ...(after.kinds.length === 0 ? {} : { kinds: kindGrowth(before.kinds, after.kinds, turns - fromTurn) }),
    },
    heapGrowthBytes: liveMemory().heapBytes - heapBefore,
  };
}

/** Turns after number `from` up to number `to`. */
async function drive(
  subject: Subject,
  conversation: string,
  [from, to]: readonly [number, number],
): Promise<void> {
  for (let turn = from + 1; turn <= to; turn += 1) {
    await subject.turn(conversation, benchmarkText(turn, `question for ${conversation},`));
  }
}
