/** What `/forget` is to forget: the one fact that an id or words stand for, or with `--everywhere` the words themselves. */
import type { Envelope } from "#src/kernel/envelope.ts";
import { termsOf, wordsOf } from "#src/kernel/words.ts";
import type { ShowOptions } from "#memory/facts/types.ts";
import { DOMAINS, type MemoryRecord } from "#memory/record.ts";
import { parseFlags, usageEnvelope, type FlagsResult } from "../../flags.ts";
import { ambiguous, looksLikeId, notFound } from "./find-record.ts";
import type { ActionContext } from "./memory-action.ts";

/** How it is written. */
export const FORGET_USAGE = "/forget <id or words> [--task name] [--everywhere [--yes]] [--dry-run]";

/** The arguments, taken apart. */
export function readForget(args: string): FlagsResult<"task", "dry-run" | "everywhere" | "yes"> {
  return parseFlags(args, { values: ["task"], switches: ["dry-run", "everywhere", "yes"] });
}

/** Arguments that could be read. */
export type ForgetFlags = Extract<ReturnType<typeof readForget>, { ok: true }>;

/** The fact that is meant, or the refusal. */
export type FoundFact =
  | { readonly kind: "one"; readonly record: MemoryRecord }
  | { readonly kind: "none" }
  | { readonly kind: "refused"; readonly envelope: Envelope };

/** What an id names, or else the one fact that has all the words; several are asked back. */
export async function findFact(context: ActionContext, { text, values }: ForgetFlags): Promise<FoundFact> {
  if (text === "")
    return { kind: "refused", envelope: usageEnvelope("what is to be forgotten?", FORGET_USAGE) };
  const found = await recordsFor(context, text, inTask(values.task));
  const [record] = found.records;
  if (record === undefined) return { kind: "none" };
  if (found.isCertain && found.records.length === 1) return { kind: "one", record };
  return { kind: "refused", envelope: ambiguous(context, found.records, text) };
}

/** What is erased everywhere. */
export type ErasureTarget =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "refused"; readonly envelope: Envelope };

/** A name has two; one, or a word as common as "of", would take half of everything along. */
const LEAST_CHARACTERS = 2;

/** As {@link findFact}; where no fact has all the words, the words are what is erased. */
export async function erasureTarget(context: ActionContext, flags: ForgetFlags): Promise<ErasureTarget> {
  const { text, values } = flags;
  if (text === "") return { kind: "refused", envelope: usageEnvelope("what is to be erased?", FORGET_USAGE) };
  const where = values.task === undefined ? ALL_DOMAINS : inTask(values.task);
  const { records, isCertain } = await recordsFor(context, text, where);
  const [record] = isCertain ? records : [];
  if (isCertain && records.length > 1)
    return { kind: "refused", envelope: ambiguous(context, records, text) };
  if (record !== undefined) return { kind: "text", text: record.text };
  if (looksLikeShortId(text)) return { kind: "refused", envelope: goneId(text) };
  if (values.task !== undefined) return { kind: "refused", envelope: notFound(text) };
  const characters = text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  const says = characters === LEAST_CHARACTERS ? termsOf(text).length > 0 : characters > LEAST_CHARACTERS;
  if (says) return { kind: "text", text };
  const problem = `a word of at least ${LEAST_CHARACTERS} letters that is not in every text says what is to be erased`;
  return { kind: "refused", envelope: usageEnvelope(problem, FORGET_USAGE) };
}

/** Its erasure may have been cut off after the fact itself was gone. */
function goneId(id: string): Envelope {
  return {
    ...notFound(id),
    next: "If it was erased before and that was cut off, /forget <its words> --everywhere finishes it. /memory show lists what is remembered, with its ids.",
  };
}

/** An id of something that is gone; nobody says such a word. */
function looksLikeShortId(text: string): boolean {
  return text.length >= 8 && looksLikeId(text) && /\d/u.test(text);
}

/** In which domains and tasks words are looked for. */
type Where = Pick<ShowOptions, "domains" | "task">;

/** What is erased everywhere may be a fact of any task. */
const ALL_DOMAINS: Where = { domains: DOMAINS, task: "*" };

/** The facts of a task, or without one those of no task. */
function inTask(task: string | undefined): Where {
  return task === undefined ? {} : { domains: ["task_memory"], task };
}

interface Wanted {
  readonly records: readonly MemoryRecord[];
  /** Each of them has all that was asked for, not only a part. */
  readonly isCertain: boolean;
}

/** What an id names, or else the facts that have all the words; where none has all, those that have some. */
async function recordsFor({ memory }: ActionContext, wanted: string, where: Where): Promise<Wanted> {
  const { facts, who } = memory;
  const byId = looksLikeId(wanted) ? await facts.find(who, wanted) : ({ kind: "none" } as const);
  if (byId.kind === "one") return { records: [byId.record], isCertain: true };
  if (byId.kind === "many") return { records: byId.records, isCertain: true };
  const shown = await facts.show(who, {
    ...where,
    scope: "*",
    query: wanted,
    includeExpired: true,
    includeArchived: true,
    includeSuperseded: true,
  });
  // Who gives all of a fact means that one, also one that was replaced, though others may have its words too.
  const same = shown.records.filter((record) => isSame(record.text, wanted));
  if (same.length === 1) return { records: same, isCertain: true };
  const standing = shown.records.filter(({ superseded_by: successor }) => successor === null);
  const whole = standing.filter((record) => hasAll(record.text, wanted));
  return whole.length > 0 ? { records: whole, isCertain: true } : { records: standing, isCertain: false };
}

function isSame(text: string, wanted: string): boolean {
  return wordsOf(text).join(" ") === wordsOf(wanted).join(" ");
}

/** Erasing goes by all the words: a fact that shares one with another is another fact. */
function hasAll(text: string, query: string): boolean {
  const terms = new Set(termsOf(text));
  const asked = termsOf(query);
  return asked.length > 0 && asked.every((term) => terms.has(term));
}
