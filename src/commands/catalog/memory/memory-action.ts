/** A part of `/memory`: the words by which it is called, what it does with what follows them, and what all parts read. */
import { PERSONALITY_DOMAINS, type PersonalityDomain } from "#memory/record.ts";
import {
  refuse,
  type CommandContext,
  type CommandFiles,
  type CommandMemory,
  type CommandOutcome,
  type PlainCommand,
} from "../../command.ts";
import { refuseUsage } from "../../parse-command.ts";
import type { Envelope } from "#src/kernel/envelope.ts";

/** What a command about memory works on. */
export interface MemoryContext extends CommandContext {
  readonly memory: CommandMemory;
}

/** The context where memory is on; where it is switched off, that is refused. */
export function withMemory(context: CommandContext): MemoryContext {
  const { memory } = context;
  if (memory !== undefined) return { ...context, memory };
  return refuse("memory_off", "memory is switched off here", {
    next: "memory.enabled and keys[].memory in config.json say where it is on; what was remembered before is still there.",
  });
}

export interface MemoryAction extends Pick<PlainCommand, "usage" | "summary"> {
  /** Words behind `/memory`, e.g. `long task show`. */
  readonly words: string;
  /** It changes nothing. */
  readonly reads?: true;
  /** Asked back where nothing follows the words; without it nothing need follow. */
  readonly asks?: string;
  check?(args: string, context: MemoryContext): Promise<void>;
  run(args: string, context: MemoryContext): Promise<CommandOutcome | Envelope>;
}

export function usageOf({ words, usage }: Pick<MemoryAction, "words" | "usage">): string {
  return `/memory ${words} ${usage}`.trimEnd();
}

/** Files, where the person is at this machine; elsewhere that is refused. */
export function filesOf(
  { files }: CommandContext,
  next = "Run lily on the machine where the file is.",
): CommandFiles {
  return files ?? refuse("files_unavailable", "files are read and written in the terminal alone", { next });
}

/** The path; paths with blanks are often written between quotes. */
export function pathOf(written: string): string {
  return /^(["'])(.+)\1$/su.exec(written.trim())?.[2] ?? written.trim();
}

/** The domain of that name, with `-` or `_`, in any case; any other name is refused. */
export function readDomain(text: string | undefined, usage: string): PersonalityDomain | undefined {
  if (text === undefined) return undefined;
  const wanted = text.toLowerCase().replaceAll("-", "_");
  return (
    PERSONALITY_DOMAINS.find((known) => known === wanted) ??
    refuseUsage(`a domain is one of ${PERSONALITY_DOMAINS.join(", ")}`, usage)
  );
}
