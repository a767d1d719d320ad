/** `/forget <id or words>`: erases one fact from memory; what was said in conversations stays. */
import { done, type Envelope } from "#src/kernel/envelope.ts";
import { fromInstant } from "#src/kernel/clock.ts";
import { termsOf } from "#src/kernel/words.ts";
import { localMinute } from "#src/sessions/day-boundary.ts";
import { shortId, type MemoryRecord } from "#memory/record.ts";
import type { CommandOutcome, PlainCommand } from "../command.ts";
import { parseFlags, usageEnvelope } from "../flags.ts";
import { ambiguous, looksLikeId, notFound } from "./memory/find-record.ts";
import { actionContext, memoryOff, momentOf, type ActionContext } from "./memory/memory-action.ts";
import { recordRow } from "./memory/record-row.ts";

const USAGE = "/forget <id or words> [--task <name>] [--dry-run]";

export const forgetCommand: PlainCommand = {
  kind: "plain",
  name: "forget",
  summary: "Erase a fact from memory; what was said in conversations stays",
  usage: "/forget <id or words> [--task name] [--dry-run]",
  effects: ["memory"],
  onlyReads(args) {
    const flags = parseFlags(args, { values: ["task"], switches: ["dry-run"] });
    return flags.ok && flags.switches.has("dry-run");
  },
  async run(args, context) {
    const on = actionContext(context);
    if (on === undefined) return { envelope: memoryOff() };
    const flags = parseFlags(args, { values: ["task"], switches: ["dry-run"] });
    if (!flags.ok) return { envelope: usageEnvelope(flags.problem, USAGE) };
    if (flags.text === "") return { envelope: usageEnvelope("what is to be forgotten?", USAGE) };
    const found = await recordsFor(on, flags.text, flags.values.task);
    const [record] = found.records;
    if (record === undefined) return { envelope: notFound(flags.text) };
    if (!found.isCertain || found.records.length > 1)
      return { envelope: ambiguous(on, found.records, flags.text) };
    return flags.switches.has("dry-run") ? { envelope: preview(on, record) } : forget(on, record);
  },
};

interface Wanted {
  readonly records: readonly MemoryRecord[];
  /** Each of them has all that was asked for, not only a part. */
  readonly isCertain: boolean;
}

/** What an id names, or else the facts that have all the words; where none has all, those that have some. */
async function recordsFor(
  { memory }: ActionContext,
  wanted: string,
  task: string | undefined,
): Promise<Wanted> {
  const { book, who } = memory;
  const byId = looksLikeId(wanted) ? await book.find(who, wanted) : ({ kind: "none" } as const);
  if (byId.kind === "one") return { records: [byId.record], isCertain: true };
  if (byId.kind === "many") return { records: byId.records, isCertain: true };
  const shown = await book.show(who, {
    ...(task === undefined ? {} : { task, domains: ["task_memory"] }),
    scope: "*",
    query: wanted,
    includeExpired: true,
    includeArchived: true,
  });
  const whole = shown.records.filter((record) => hasAll(record.text, wanted));
  return whole.length > 0
    ? { records: whole, isCertain: true }
    : { records: shown.records, isCertain: false };
}

/** Erasing goes by all the words: a fact that shares one with another is another fact. */
function hasAll(text: string, query: string): boolean {
  const terms = new Set(termsOf(text));
  const asked = termsOf(query);
  return asked.length > 0 && asked.every((term) => terms.has(term));
}

const KEPT = "What was said in conversations stays in their transcripts.";

function preview(context: ActionContext, record: MemoryRecord): Envelope {
  const short = shortId(record.id);
  return done("memory_forget_preview", `This would be erased: “${record.text}” (${short}).`, {
    next: `/forget ${short} does it. ${KEPT}`,
    data: { record: recordRow(record, momentOf(context)) },
  });
}

/** The reply is stored with its turn, so it names the fact and does not repeat it. */
async function forget(context: ActionContext, { id }: MemoryRecord): Promise<CommandOutcome> {
  const { book, who } = context.memory;
  const outcome = await book.forget(who, id);
  if (outcome.kind === "none") return { envelope: notFound(shortId(id)) };
  const { record, predecessors } = outcome;
  const since = localMinute(fromInstant(record.created_at), context.policy.timeZone);
  const earlier =
    predecessors.length === 0
      ? ""
      : `What it had replaced is kept and not read: ${predecessors.map((old) => shortId(old.id)).join(", ")}. `;
  const envelope = done(
    "memory_forgotten",
    `Erased from memory: what was remembered on ${since} (${record.domain}, ${shortId(id)}). ${earlier}${KEPT}`,
    {
      next: "/remember <text> keeps it again.",
      data: {
        id,
        domain: record.domain,
        task: record.task,
        predecessors: predecessors.map((old) => old.id),
        kept: ["transcripts"],
      },
    },
  );
  return { envelope, isCommitted: true };
}
