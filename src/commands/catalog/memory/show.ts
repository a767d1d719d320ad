/** `/memory show`, `/memory long task show`: what is remembered; `/memory short show`: what the conversation holds. */
import { done, type Envelope } from "#src/kernel/envelope.ts";
import { counted, joined, markdownFacts, quoted } from "#src/kernel/markdown.ts";
import { localTime } from "#src/kernel/clock.ts";
import type { ShowOptions, ShowResult } from "#memory/facts/types.ts";
import { parseFlags, refuseUsage, type Flags } from "../../parse-command.ts";
import { readDomain, usageOf, type MemoryAction, type MemoryContext } from "./memory-action.ts";
import { dueText, recordsShown } from "./records.ts";

export const showAction: MemoryAction = {
  words: "show",
  usage: "[--domain persona_core|user_profile|working_rules] [words] [--all]",
  summary: "what is remembered, or what of it fits the words; --all also what has expired or was replaced",
  reads: true,
  async run(args, context) {
    const usage = usageOf(this);
    const flags = parseFlags(args, { values: ["domain"], switches: ["all"], usage });
    const domain = readDomain(flags.values.domain, usage);
    if (domain === undefined) return show(context, flags, { where: "" });
    return show(context, flags, { domains: [domain], where: ` in ${domain}` });
  },
};

export const longTaskShowAction: MemoryAction = {
  words: "long task show",
  usage: "--namespace <task> [words] [--all]",
  summary: "what is remembered of a task; --namespace * for all tasks",
  reads: true,
  async run(args, context) {
    const usage = usageOf(this);
    const flags = parseFlags(args, { values: ["namespace"], switches: ["all"], usage });
    const task =
      flags.values.namespace ?? refuseUsage("which task? Task memory is never read by itself", usage);
    const where = task === "*" ? " of all tasks" : ` of the task ${quoted(task)}`;
    return show(context, flags, { task, domains: ["task_memory"], where });
  },
};

interface Shown extends Pick<ShowOptions, "domains" | "task"> {
  /** Where was looked, in words behind the count. */
  readonly where: string;
}

async function show(
  context: MemoryContext,
  { text: query, switches }: Flags<never, "all">,
  { where, ...options }: Shown,
): Promise<Envelope> {
  const isAll = switches.has("all");
  const { facts, who } = context.memory;
  const found = await facts.show(who, {
    ...options,
    ...(query === "" ? {} : { query }),
    includeAll: isAll,
  });
  const { records, total, leftOut, unreadable } = found;
  const left = [
    leftOut.expired > 0 ? `${leftOut.expired} expired` : "",
    leftOut.archived > 0 ? `${leftOut.archived} archived` : "",
    leftOut.superseded > 0 ? `${leftOut.superseded} replaced` : "",
  ];
  const told = [
    countText(found, query, where),
    joined(left) === "" ? "" : `Left out: ${joined(left, ", ")}; --all shows them.`,
    unreadable === 0 ? "" : `${unreadable} more cannot be read; lily doctor says more.`,
    dueText(records, context.nowMs),
  ];
  const { body, data } = recordsShown(records, context);
  return done("memory_shown", joined(told), {
    next: records.length === 0 ? "/remember <text> keeps something." : "/forget <id> erases one of them.",
    body,
    data: { query: query === "" ? null : query, total, leftOut, ...data },
  });
}

function countText({ records, total }: ShowResult, query: string, where: string): string {
  if (records.length === 0)
    return query === ""
      ? `Nothing is remembered${where}.`
      : `Nothing that is remembered${where} fits ${quoted(query)}.`;
  const asked = query === "" ? "" : ` that ${total === 1 ? "fits" : "fit"} ${quoted(query)}`;
  const clipped = total > records.length ? `; ${records.length} are listed` : "";
  return `${counted(total, "fact")}${where}${asked}${clipped}.`;
}

export const shortShowAction: MemoryAction = {
  words: "short show",
  usage: "",
  summary: "what this conversation holds by itself",
  reads: true,
  async run(_args, { session, storage, solver, policy }) {
    const { lastActivityAt, sessionId, turns, contextFrom = 1 } = session;
    const lastActivity = lastActivityAt === null ? null : localTime(lastActivityAt, policy.timeZone);
    const message = `This conversation has ${counted(turns, "committed turn")}; they are its short-term memory.`;
    return done("memory_short_shown", message, {
      next: "/history shows them.",
      data: { threadId: sessionId, turns, contextFrom, lastActivity, solver, storage },
      body: markdownFacts([
        ["turns", String(turns)],
        ["given from", contextFrom > 1 ? `turn ${contextFrom}` : null],
        ["last turn", lastActivity],
        ["answers", solver === "symbolic" ? "without a model" : solver],
        ["thread", sessionId],
        ["data", storage],
      ]),
    });
  },
};
