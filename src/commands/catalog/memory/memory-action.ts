/** A part of `/memory`: the words by which it is called, and what it does with what follows them. */
import type { Envelope } from "#src/kernel/envelope.ts";
import { refused } from "#src/kernel/envelope.ts";
import type { CommandMemory } from "../../command-memory.ts";
import type { CommandContext, CommandOutcome } from "../../command.ts";
import type { RowMoment } from "./record-row.ts";

/** What an action works on. */
export interface ActionContext extends CommandContext {
  readonly memory: CommandMemory;
}

/** One action. */
export interface MemoryAction {
  /** Words behind `/memory`, e.g. `long task show`. */
  readonly words: string;
  /** What may follow them, e.g. `[query]`. */
  readonly usage: string;
  readonly summary: string;
  /** It changes nothing. */
  readonly reads: boolean;
  objection?(args: string, context: ActionContext): Promise<Envelope | undefined>;
  run(args: string, context: ActionContext): Promise<CommandOutcome>;
}

/** How an action is written. */
export function usageOf({ words, usage }: Pick<MemoryAction, "words" | "usage">): string {
  return `/memory ${words} ${usage}`.trimEnd();
}

/** The context of an action; `undefined` when memory is switched off. */
export function actionContext(context: CommandContext): ActionContext | undefined {
  return context.memory === undefined ? undefined : { ...context, memory: context.memory };
}

/** What is told when memory is switched off. */
export function memoryOff(): Envelope {
  return refused("memory_off", "memory is switched off here", {
    next: "Set memory.enabled to true in config.json; what was remembered before is still there.",
  });
}

/** When and for whom rows are made. */
export function momentOf({ nowMs, policy }: CommandContext): RowMoment {
  return { nowMs, timeZone: policy.timeZone };
}
