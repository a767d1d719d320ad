/** A part of `/memory`: the words by which it is called, what it does with what follows them, and what all parts read. */
import { type Envelope, envelopeOf, refused } from "#src/kernel/envelope.ts";
import { isLilyError } from "#src/kernel/errors.ts";
import { PERSONALITY_DOMAINS, type PersonalityDomain } from "#memory/record.ts";
import type { CommandContext, CommandMemory, CommandOutcome } from "../../command.ts";
import type { RowMoment } from "./record-row.ts";

/** What an action works on. */
export interface ActionContext extends CommandContext {
  readonly memory: CommandMemory;
}

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
    next: "memory.enabled and keys[].memory in config.json say where it is on; what was remembered before is still there.",
  });
}

/** When and for whom rows are made. */
export function momentOf({ nowMs, policy }: CommandContext): RowMoment {
  return { nowMs, timeZone: policy.timeZone };
}

/** What `action` gives, or the envelope of the `LilyError` it threw. */
export async function told<T>(action: () => Promise<T>): Promise<T | Envelope> {
  try {
    return await action();
  } catch (error) {
    if (isLilyError(error)) return envelopeOf(error);
    throw error;
  }
}

/** The path; paths with blanks are often written between quotes. */
export function pathOf(written: string): string {
  return /^(["'])(.+)\1$/su.exec(written.trim())?.[2] ?? written.trim();
}

/** What a flag `--domain` came to. */
export type DomainFlag =
  | { readonly ok: true; readonly domain: PersonalityDomain | undefined }
  | { readonly ok: false; readonly problem: string };

/** The domain of that name, with `-` or `_`, in any case; none when there is no flag. */
export function readDomain(text: string | undefined): DomainFlag {
  if (text === undefined) return { ok: true, domain: undefined };
  const wanted = text.toLowerCase().replaceAll("-", "_");
  const domain = PERSONALITY_DOMAINS.find((known) => known === wanted);
  if (domain !== undefined) return { ok: true, domain };
  return { ok: false, problem: `a domain is one of ${PERSONALITY_DOMAINS.join(", ")}` };
}
