/** `/forget <id or words>`: erases one fact from memory; what was said in conversations stays, unless `--everywhere`. */
import { done } from "#src/kernel/envelope.ts";
import { counted, joined, markdownTable } from "#src/kernel/markdown.ts";
import { termsOf, wordsOf } from "#src/kernel/words.ts";
import { localTime } from "#src/kernel/clock.ts";
import { placeOf, unitsSaying } from "#src/sessions/knowledge-units.ts";
import type { ShowOptions } from "#memory/facts/types.ts";
import { DOMAINS, shortId, type MemoryRecord } from "#memory/record.ts";
import type { DoomedTurn } from "../command-erasing.ts";
import { committed, refuse, type CommandOutcome, type PlainCommand } from "../command.ts";
import { parseFlags, refuseUsage, type Flags } from "../parse-command.ts";
import {
  looksLikeId,
  recordRow,
  recordsById,
  refuseAmbiguous,
  refuseUnknown,
  theOne,
} from "./memory/records.ts";
import { withMemory, type MemoryContext } from "./memory/memory-action.ts";

const USAGE =
  "/forget <id or words> [--task name] [--everywhere [--yes]] [--dry-run], or /forget --all [--yes]";

export type ForgetFlags = Flags<"task", "all" | "dry-run" | "everywhere" | "yes">;

/** The arguments, taken apart. */
export function readForget(args: string): ForgetFlags {
  return parseFlags(args, {
    values: ["task"],
    switches: ["all", "dry-run", "everywhere", "yes"],
    usage: USAGE,
  });
}

/** The flags of arguments that ask to erase everywhere, with the yes that it needs; `undefined` for all others. */
export function erasesEverywhere(args: string): ForgetFlags | undefined {
  const flags = readable(args);
  const { switches } = flags ?? {};
  const isMeant = switches?.has("everywhere") === true && switches.has("yes") && !switches.has("dry-run");
  return isMeant ? flags : undefined;
}

function readable(args: string): ForgetFlags | undefined {
  try {
    return readForget(args);
  } catch {
    // What is wrong with them is told when the command runs.
    return undefined;
  }
}

export const forgetCommand: PlainCommand = {
  name: "forget",
  summary: "Erase a fact from memory; what was said in conversations stays, unless --everywhere",
  usage: USAGE,
  effects: ["memory"],
  onlyReads(args) {
    const { switches } = readable(args) ?? {};
    if (switches === undefined) return false;
    const asks = switches.has("everywhere") || switches.has("all");
    return switches.has("dry-run") || (asks && !switches.has("yes"));
  },
  async run(args, given) {
    const context = withMemory(given);
    const flags = readForget(args);
    const { text, values, switches } = flags;
    if (switches.has("all")) return forgetAll(context, flags);
    if (switches.has("everywhere")) return forgetEverywhere(context, flags);
    if (text === "") refuseUsage("what is to be forgotten?", USAGE);
    const { records, isCertain } = await recordsFor(context, text, inTask(values.task));
    if (records.length > 0 && !isCertain) refuseAmbiguous(context, records, text);
    const record = theOne(context, records, text);
    const isDry = switches.has("dry-run");
    const units = unitsSaying(context.session.units, record?.text ?? text);
    if (record === undefined && (isDry || units.length === 0)) return refuseUnknown(text);
    if (record !== undefined && isDry) {
      const short = shortId(record.id);
      return done("memory_forget_preview", `This would be erased: “${record.text}” (${short}).`, {
        next: `/forget ${short} does it. ${KEPT} --everywhere erases it there too.`,
        data: { record: recordRow(record, context) },
      });
    }
    const changes = units.length === 0 ? {} : { changes: { unitsDropped: units.map(placeOf) } };
    if (record !== undefined) return { ...(await forget(context, record)), ...changes };
    const message = `Nothing remembered fits; this conversation had noted it, and uses it no more: ${counted(units.length, "knowledge unit")}. ${KEPT}`;
    const envelope = done("units_dropped", message, {
      next: "/forget <words> --everywhere erases it from conversations too.",
      data: { count: units.length },
    });
    return { envelope, ...changes };
  },
};

const KEPT = "What was said in conversations stays in their transcripts.";

/** The reply is stored with its turn, so it names the fact and does not repeat it. */
async function forget({ memory, policy }: MemoryContext, { id }: MemoryRecord): Promise<CommandOutcome> {
  const outcome = await memory.facts.forget(memory.who, id);
  if (outcome.kind === "none") return refuseUnknown(shortId(id));
  const { record, predecessors } = outcome;
  const { domain, task, created_at } = record;
  const earlier =
    predecessors.length === 0
      ? ""
      : `What it had replaced is kept and not read: ${predecessors.map((old) => shortId(old.id)).join(", ")}. `;
  const what = `what was remembered on ${localTime(created_at, policy.timeZone)} (${domain}, ${shortId(id)})`;
  return committed("memory_forgotten", `Erased from memory: ${what}. ${earlier}${KEPT}`, {
    next: "/remember <text> keeps it again; /forget <words> --everywhere erases it from conversations too.",
    data: { id, domain, task, predecessors: predecessors.map((old) => old.id), kept: ["transcripts"] },
  });
}

/** `/forget --all`: memory alone is emptied, after a yes. */
async function forgetAll({ memory }: MemoryContext, { text, values, switches }: ForgetFlags) {
  const { facts, who } = memory;
  if (text !== "" || values.task !== undefined || switches.has("everywhere"))
    refuseUsage("--all is all that is remembered, and stands alone", USAGE);
  if (!switches.has("yes") || switches.has("dry-run")) {
    const { current, review, leftOut } = await facts.overview(who);
    const total = Object.values(current).reduce((sum, count) => sum + count, review + leftOut);
    const message = `This would erase all that is remembered, ${counted(total, "fact")}. ${KEPT} Documents stay too.`;
    const more = { next: "/forget --all --yes does it. Nothing was changed.", data: { total } };
    const isAsked = total > 0 && !switches.has("dry-run");
    return isAsked
      ? refuse("confirmation_needed", message, more)
      : done("memory_forget_preview", message, more);
  }
  const total = await facts.forgetAll(who);
  const message = `Erased from memory: ${counted(total, "fact")}, which is all. ${KEPT}`;
  return committed("memory_forgotten", message, {
    next: "/remember <text> keeps something again; lily erase --owner erases a person wholly.",
    data: { total, kept: ["transcripts", "documents"] },
  });
}

/** `/forget … --everywhere`: shows what would go, asks for a yes, and tells what became of it. The run has erased by then. */
async function forgetEverywhere(context: MemoryContext, flags: ForgetFlags) {
  const { erasing } = context;
  if (erasing?.receipt !== undefined) return { envelope: erasing.receipt, isCommitted: true };
  if (erasing?.preview === undefined)
    return refuse("erasure_unsupported", "a run cannot erase the thread that it stands on", {
      next: "Whoever runs the server erases a whole conversation with lily erase --server <url> --key <session key>, or delete its threads. Nothing was changed.",
    });
  const text = await erasedText(context, flags);
  const { turns, records, counts, inPart } = await erasing.preview({ text, asked: flags.text });
  const { timeZone } = context.policy;
  const dated = (turn: DoomedTurn): DoomedTurn => ({
    ...turn,
    at: turn.at === "" ? "" : localTime(turn.at, timeZone),
  });
  const data = {
    turns: turns.map(dated),
    stays: inPart.turns.map(dated),
    records: records.map((record) => recordRow(record, context)),
    counts: counts.filter(({ count }) => count > 0),
  };
  const facts = markdownTable(
    ["fact", ""],
    data.records.map(({ short, text: fact }) => [short, fact]),
  );
  const body = joined([facts, turnsTable("turn", data.turns), turnsTable("stays", data.stays)], "\n\n");
  const stays = inPart.what === "" ? "" : `. Stays, since it has only a part of it: ${inPart.what}`;
  const places = data.counts.map(({ place, count }) => `${place} (${count})`);
  const what =
    places.length === 0
      ? "Nothing was found that says it; a mark would keep it from being remembered"
      : `Would be erased: ${places.join(", ")}; each turn as a whole`;
  if (flags.switches.has("dry-run"))
    return done("memory_erase_preview", `${what}${stays}. Nothing was changed.`, {
      next: "The same with --yes in place of --dry-run erases it. It cannot be taken back.",
      data,
      body,
    });
  return refuse("confirmation_needed", `${what}${stays}. It cannot be taken back`, {
    next: "Send the same with --yes to erase it. Nothing was changed.",
    data,
    body,
  });
}

/** More would not be read. */
const MOST_TURNS = 30;

function turnsTable(heading: string, turns: readonly DoomedTurn[]): string {
  const rows = turns
    .slice(0, MOST_TURNS)
    .map(({ sessionKey, session, turn, at, said }) => [
      at,
      `${sessionKey}, session ${session ?? "?"}, turn ${turn}`,
      said,
    ]);
  const more = turns.length - MOST_TURNS;
  if (more > 0) rows.push(["", `and ${more} more turns`, ""]);
  return markdownTable([heading, "of", "says"], rows);
}

/** A name has two; one, or a word as common as "of", would take half of everything along. */
const LEAST_CHARACTERS = 2;

/** What is erased everywhere: the fact that is meant, and where no fact has all the words, the words. */
export async function erasedText(context: MemoryContext, { text, values }: ForgetFlags): Promise<string> {
  const { facts, who } = context.memory;
  // What would go is shown, and so would be told to whoever reads this conversation.
  if (who.owner !== context.chain.owner)
    refuse("erasure_unsupported", "this conversation keeps a memory of its own, and reads no other", {
      next: "Give the command in a conversation that reads your memory; /forget without --everywhere erases a fact here.",
    });
  if (text === "") refuseUsage("what is to be erased?", USAGE);
  const where = values.task === undefined ? ALL_DOMAINS : inTask(values.task);
  const { records, isCertain } = await recordsFor(context, text, where);
  const record = isCertain ? theOne(context, records, text) : undefined;
  if (record !== undefined) return (await facts.rawText(who, record.id)) ?? record.text;
  // An id of something that is gone, for nobody says such a word: its erasure may have been cut off after that.
  if (text.length >= 8 && looksLikeId(text) && /\d/u.test(text))
    refuseUnknown(
      text,
      "If it was erased before and that was cut off, /forget <its words> --everywhere finishes it. /memory show lists what is remembered, with its ids.",
    );
  if (values.task !== undefined) refuseUnknown(text);
  const characters = text.match(/[\p{L}\p{N}]/gu)?.length ?? 0;
  const says = characters === LEAST_CHARACTERS ? termsOf(text).length > 0 : characters > LEAST_CHARACTERS;
  if (says) return text;
  return refuseUsage(
    `a word of at least ${LEAST_CHARACTERS} letters that is not in every text says what is to be erased`,
    USAGE,
  );
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
async function recordsFor(context: MemoryContext, wanted: string, where: Where): Promise<Wanted> {
  const { facts, who } = context.memory;
  const byId = await recordsById(context, wanted);
  if (byId.length > 0) return { records: byId, isCertain: true };
  const { records } = await facts.show(who, {
    ...where,
    scope: "*",
    query: wanted,
    limit: Number.MAX_SAFE_INTEGER,
    includeAll: true,
  });
  // Who gives all of a fact means that one, also one that was replaced, though others may have its words too.
  const inWords = wordsOf(wanted).join(" ");
  const same = records.filter(({ text }) => wordsOf(text).join(" ") === inWords);
  if (same.length === 1) return { records: same, isCertain: true };
  const standing = records.filter(({ superseded_by: successor }) => successor === null);
  const whole = standing.filter(({ text }) => hasAll(text, wanted));
  return whole.length > 0 ? { records: whole, isCertain: true } : { records: standing, isCertain: false };
}

/** Erasing goes by all the words: a fact that shares one with another is another fact. */
function hasAll(text: string, query: string): boolean {
  const terms = new Set(termsOf(text));
  const asked = termsOf(query);
  return asked.length > 0 && asked.every((term) => terms.has(term));
}
