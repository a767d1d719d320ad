/** Finds the one record that a person means by an id or by words, or says why there is not one; with `--everywhere`, what is to be erased. */
import { counted, quoted } from "#src/kernel/markdown.ts";
import { type Envelope, refused } from "#src/kernel/envelope.ts";
import { DOMAINS, type MemoryRecord } from "#memory/record.ts";
import { termsOf, wordsOf } from "#src/kernel/words.ts";
import type { ShowOptions } from "#memory/facts/types.ts";
import type { CommandMemory } from "../../command.ts";
import { type ActionContext, momentOf } from "./memory-action.ts";
import { recordRow, recordsShown } from "./record-row.ts";
import { type FlagsResult, parseFlags, usageEnvelope } from "../../parse-command.ts";

export type FoundRecord =
  | { readonly kind: "one"; readonly record: MemoryRecord }
  | { readonly kind: "refused"; readonly envelope: Envelope };

/** The record with that full or short id, in whatever domain and state it is. */
export async function findRecord(context: ActionContext, id: string): Promise<FoundRecord> {
  return theOne(context, await recordsById(context.memory, id), { wanted: id, otherwise: notFound });
}

/** The one record, or the refusal of several, or `otherwise` the refusal of none. */
function theOne(
  context: ActionContext,
  records: readonly MemoryRecord[],
  { wanted, otherwise }: { readonly wanted: string; readonly otherwise: (wanted: string) => Envelope },
): FoundRecord {
  const [record] = records;
  if (record === undefined) return { kind: "refused", envelope: otherwise(wanted) };
  if (records.length === 1) return { kind: "one", record };
  return { kind: "refused", envelope: ambiguous(context, records, wanted) };
}

/** The record with that full or short id among those that wait for a review. */
export async function findWaiting(context: ActionContext, id: string): Promise<FoundRecord> {
  const { facts, who } = context.memory;
  const waiting = looksLikeId(id) ? await facts.review.list(who) : [];
  const found = waiting.filter((record) => record.id.startsWith(id.toLowerCase()));
  return theOne(context, found, { wanted: id, otherwise: notWaiting });
}

async function recordsById({ facts, who }: CommandMemory, id: string): Promise<readonly MemoryRecord[]> {
  const found = looksLikeId(id) ? await facts.find(who, id) : ({ kind: "none" } as const);
  if (found.kind === "one") return [found.record];
  return found.kind === "many" ? found.records : [];
}

/** Whether a text can be a full or short id: at least four characters of a UUID. */
export function looksLikeId(text: string): boolean {
  return /^[0-9a-f]{4}[0-9a-f-]{0,32}$/iu.test(text);
}

/** The refusal of an id or of words that fit nothing. */
export function notFound(wanted?: string): Envelope {
  const what = wanted === undefined ? "that" : quoted(wanted);
  return refused("memory_not_found", `nothing that is remembered fits ${what}`, {
    next: "/memory show lists what is remembered, with its ids; --task <name> looks in that of a task.",
  });
}

/** The refusal of an id that nothing which waits for a review has. */
export function notWaiting(wanted: string): Envelope {
  return refused("memory_not_found", `nothing that waits for a review has the id ${quoted(wanted)}`, {
    next: "/memory review lists what waits, with its ids.",
  });
}

/** Facts that a person is shown of many. */
const LISTED = 50;

/** Several records fit: which one is asked back. */
function ambiguous(context: ActionContext, records: readonly MemoryRecord[], wanted: string): Envelope {
  const listed = records.slice(0, LISTED);
  const clipped = records.length > LISTED ? `; ${LISTED} are listed` : "";
  return refused("memory_ambiguous", `${counted(records.length, "fact")} fit ${quoted(wanted)}${clipped}`, {
    next: "Nothing was changed. Say which one by its id.",
    ...recordsShown(listed.map((record) => recordRow(record, momentOf(context)))),
  });
}

/** How it is written. */
export const FORGET_USAGE =
  "/forget <id or words> [--task name] [--everywhere [--yes]] [--dry-run], or /forget --all [--yes]";

/** The arguments, taken apart. */
export function readForget(args: string): FlagsResult<"task", "all" | "dry-run" | "everywhere" | "yes"> {
  return parseFlags(args, { values: ["task"], switches: ["all", "dry-run", "everywhere", "yes"] });
}

/** Arguments that could be read. */
export type ForgetFlags = Extract<ReturnType<typeof readForget>, { ok: true }>;

/** What an id names, or else the one fact that has all the words; several are asked back. */
export async function findFact(context: ActionContext, { text, values }: ForgetFlags): Promise<FoundRecord> {
  if (text === "")
    return { kind: "refused", envelope: usageEnvelope("what is to be forgotten?", FORGET_USAGE) };
  const found = await recordsFor(context, text, inTask(values.task));
  const [record] = found.records;
  if (record === undefined) return { kind: "refused", envelope: notFound(text) };
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
  if (context.memory.who.owner !== context.chain.owner) return { kind: "refused", envelope: keepsItsOwn() };
  if (text === "") return { kind: "refused", envelope: usageEnvelope("what is to be erased?", FORGET_USAGE) };
  const where = values.task === undefined ? ALL_DOMAINS : inTask(values.task);
  const { records, isCertain } = await recordsFor(context, text, where);
  const [record] = isCertain ? records : [];
  if (isCertain && records.length > 1)
    return { kind: "refused", envelope: ambiguous(context, records, text) };
  if (record !== undefined) {
    const { facts, who } = context.memory;
    return { kind: "text", text: (await facts.rawText(who, record.id)) ?? record.text };
  }
  if (looksLikeShortId(text)) return { kind: "refused", envelope: goneId(text) };
  if (values.task !== undefined) return { kind: "refused", envelope: notFound(text) };
  const characters = text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  const says = characters === LEAST_CHARACTERS ? termsOf(text).length > 0 : characters > LEAST_CHARACTERS;
  if (says) return { kind: "text", text };
  const problem = `a word of at least ${LEAST_CHARACTERS} letters that is not in every text says what is to be erased`;
  return { kind: "refused", envelope: usageEnvelope(problem, FORGET_USAGE) };
}

/** What would go is shown, and so would be told to whoever reads this conversation. */
function keepsItsOwn(): Envelope {
  return refused("erasure_unsupported", "this conversation keeps a memory of its own, and reads no other", {
    next: "Give the command in a conversation that reads your memory; /forget without --everywhere erases a fact here.",
  });
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
  const byId = await recordsById(memory, wanted);
  if (byId.length > 0) return { records: byId, isCertain: true };
  const shown = await facts.show(who, {
    ...where,
    scope: "*",
    query: wanted,
    limit: Number.MAX_SAFE_INTEGER,
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
