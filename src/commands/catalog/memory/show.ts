/** `/memory show`, `/memory long show`, `/memory long task show`: what is remembered; `/memory short show`: what the conversation holds. */
import { counted, joined, quoted } from "#src/kernel/markdown.ts";
import { done, type Envelope } from "#src/kernel/envelope.ts";
import type { ShowOptions, ShowResult } from "#memory/facts/types.ts";
import { markdownFacts } from "#src/kernel/markdown.ts";
import { localTime } from "#src/sessions/day-boundary.ts";
import { parseFlags, usageEnvelope, type FlagsResult } from "../../parse-command.ts";
import { momentOf, readDomain, usageOf, type ActionContext, type MemoryAction } from "./memory-action.ts";
import { dueText, recordRow, recordsShown } from "./record-row.ts";

/** `/memory show [query]`. */
export const showAction: MemoryAction = {
  words: "show",
  usage: "[--domain persona_core|user_profile|working_rules] [words] [--all]",
  summary: "what is remembered, or what of it fits the words; --all also what has expired or was replaced",
  reads: true,
  async run(args, context) {
    const flags = parseFlags(args, { values: ["domain"], switches: ["all"] });
    if (!flags.ok) return { envelope: usageEnvelope(flags.problem, usageOf(this)) };
    const read = readDomain(flags.values.domain);
    if (!read.ok) return { envelope: usageEnvelope(read.problem, usageOf(this)) };
    const shown: Shown =
      read.domain === undefined ? { where: "" } : { domains: [read.domain], where: ` in ${read.domain}` };
    return { envelope: await show(context, flags, shown) };
  },
};

/** `/memory long show`: by the name of the layer, as the specification calls it. */
export const longShowAction: MemoryAction = { ...showAction, words: "long show", summary: "the same" };

/** `/memory long task show --namespace <task> [query]`. */
export const longTaskShowAction: MemoryAction = {
  words: "long task show",
  usage: "--namespace <task> [words] [--all]",
  summary: "what is remembered of a task; --namespace * for all tasks",
  reads: true,
  async run(args, context) {
    const flags = parseFlags(args, { values: ["namespace"], switches: ["all"] });
    if (!flags.ok) return { envelope: usageEnvelope(flags.problem, usageOf(this)) };
    const task = flags.values.namespace;
    if (task === undefined)
      return { envelope: usageEnvelope("which task? Task memory is never read by itself", usageOf(this)) };
    const where = task === "*" ? " of all tasks" : ` of the task ${quoted(task)}`;
    return { envelope: await show(context, flags, { task, domains: ["task_memory"], where }) };
  },
};

interface Shown extends Pick<ShowOptions, "domains" | "task"> {
  /** Where was looked, in words behind the count. */
  readonly where: string;
}

type ShowFlags = Extract<FlagsResult<string, "all">, { ok: true }>;

async function show(
  context: ActionContext,
  { text: query, switches }: ShowFlags,
  { where, ...options }: Shown,
): Promise<Envelope> {
  const isAll = switches.has("all");
  const { facts, who } = context.memory;
  const found = await facts.show(who, {
    ...options,
    ...(query === "" ? {} : { query }),
    includeExpired: isAll,
    includeArchived: isAll,
    includeSuperseded: isAll,
  });
  const rows = found.records.map((record) => recordRow(record, momentOf(context)));
  const shown = recordsShown(rows);
  const due = dueText(found.records, context.nowMs);
  const message = joined([shownText(found, query, where), due]);
  return done("memory_shown", message, {
    next: rows.length === 0 ? "/remember <text> keeps something." : "/forget <id> erases one of them.",
    body: shown.body,
    data: { query: query === "" ? null : query, total: found.total, leftOut: found.leftOut, ...shown.data },
  });
}

function shownText(found: ShowResult, query: string, where: string): string {
  const { expired, archived, superseded } = found.leftOut;
  const left = [
    expired > 0 ? `${expired} expired` : "",
    archived > 0 ? `${archived} archived` : "",
    superseded > 0 ? `${superseded} replaced` : "",
  ].filter((part) => part !== "");
  return joined([
    countText(found, query, where),
    left.length === 0 ? "" : `Left out: ${left.join(", ")}; --all shows them.`,
    found.unreadable === 0 ? "" : `${found.unreadable} more cannot be read; lily doctor says more.`,
  ]);
}

function countText({ records, total }: ShowResult, query: string, where: string): string {
  const asked = query === "" ? "" : ` that ${total === 1 ? "fits" : "fit"} ${quoted(query)}`;
  if (records.length === 0)
    return query === ""
      ? `Nothing is remembered${where}.`
      : `Nothing that is remembered${where} fits ${quoted(query)}.`;
  const clipped = total > records.length ? `; ${records.length} are listed` : "";
  return `${counted(total, "fact")}${where}${asked}${clipped}.`;
}

export const shortShowAction: MemoryAction = {
  words: "short show",
  usage: "",
  summary: "what this conversation holds by itself",
  reads: true,
  async run(_args, { session, storage, solver, policy }) {
    const { lastActivityAt, turns, contextFrom = 1 } = session;
    const last = lastActivityAt === null ? null : localTime(lastActivityAt, policy.timeZone);
    const message = `This conversation has ${counted(turns, "committed turn")}; they are its short-term memory.`;
    const envelope = done("memory_short_shown", message, {
      next: "/history shows them.",
      data: { threadId: session.sessionId, turns, contextFrom, lastActivity: last, solver, storage },
      body: markdownFacts([
        ["turns", String(turns)],
        ["given from", contextFrom > 1 ? `turn ${contextFrom}` : null],
        ["last turn", last],
        ["answers", solver === "symbolic" ? "without a model" : solver],
        ["thread", session.sessionId],
        ["data", storage],
      ]),
    });
    return { envelope };
  },
};
