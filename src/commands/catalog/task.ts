/** `/task [name|none]`: which task's memory is read beside that of the person, in this session and those after it. */
import { done, type Envelope } from "#src/kernel/envelope.ts";
import { counted, joined } from "#src/kernel/markdown.ts";
import { taskSchema } from "#memory/record.ts";
import { allowedText } from "../allowed-text.ts";
import type { CommandOutcome, PlainCommand } from "../command.ts";
import { parseFlags, refuseUsage } from "../parse-command.ts";
import { withMemory, type MemoryContext } from "./memory/memory-action.ts";

const USAGE = "/task <name> or /task none";

export const taskCommand: PlainCommand = {
  name: "task",
  summary: "Show or choose the task whose facts are read here too",
  usage: "/task [name|none]",
  effects: ["reads", "session"],
  onlyReads: (args) => args === "",
  async check(args, context) {
    await allowedText(args, withMemory(context), { isName: true });
  },
  async run(args, given) {
    const context = withMemory(given);
    const tasks = await knownTasks(context);
    if (args === "") return current(context, tasks);
    const name = nameOf(parseFlags(args, { usage: USAGE }).text);
    return name.toLowerCase() === "none" ? cleared(context) : choose(name, tasks);
  },
};

/** How many facts hold now, by task; tasks in the order of their names. */
type Tasks = ReadonlyMap<string, number>;

async function knownTasks({ memory }: MemoryContext): Promise<Tasks> {
  const { records } = await memory.facts.show(memory.who, {
    domains: ["task_memory"],
    task: "*",
    limit: Number.MAX_SAFE_INTEGER,
  });
  const tasks = new Map<string, number>();
  for (const name of records.flatMap(({ task }) => task ?? []).sort())
    tasks.set(name, (tasks.get(name) ?? 0) + 1);
  return tasks;
}

/** A name as it is typed: on one line, without the quotation marks that `--task` needs around several words. */
function nameOf(text: string): string {
  return text
    .replace(/^["“”„«»]([^"“”„«»]*)["“”„«»]$/u, "$1")
    .replaceAll(/\s*\n\s*/gu, " ")
    .trim();
}

function current({ session }: MemoryContext, tasks: Tasks): Envelope {
  const task = session.task ?? null;
  const message =
    task === null
      ? "This conversation is about no task: nothing of task memory is read."
      : `This conversation is about the task “${task}”: ${readText(tasks.get(task) ?? 0)}.`;
  return done("task", joined([message, knownText(tasks)]), {
    next: "/task <name> chooses one, /task none leaves it.",
    data: { task, tasks: [...tasks].map(([name, facts]) => ({ name, facts })) },
  });
}

/** Names that are told in words; the data has all of them. */
const MAX_TOLD = 20;

function knownText(tasks: Tasks): string {
  if (tasks.size === 0) return "";
  const told = [...tasks].slice(0, MAX_TOLD).map(([name, facts]) => `${name} (${counted(facts, "fact")})`);
  const more = tasks.size > MAX_TOLD ? `, and ${tasks.size - MAX_TOLD} more` : "";
  return `Something is remembered of: ${told.join(", ")}${more}.`;
}

function cleared({ session }: MemoryContext): CommandOutcome | Envelope {
  if (session.task === undefined)
    return done("task", "This conversation is about no task.", { data: { task: null } });
  const message = `This conversation has left the task “${session.task}”: its facts are not read any more.`;
  return {
    envelope: done("task_cleared", message, {
      next: "They are kept: /memory long task show --namespace <task> lists them.",
      data: { task: null },
    }),
    changes: { task: null },
  };
}

function choose(name: string, tasks: Tasks): CommandOutcome {
  if (!taskSchema.safeParse(name).success) refuseUsage("a task name has 1 to 200 characters", USAGE);
  const facts = tasks.get(name) ?? 0;
  const message = `This conversation is about the task “${name}” now: ${readText(facts)}.`;
  return {
    envelope: done("task_set", message, { next: nextText(name, tasks), data: { task: name, facts } }),
    changes: { task: name },
  };
}

function readText(facts: number): string {
  if (facts === 0) return "nothing is remembered of it yet";
  return `its ${counted(facts, "fact")} ${facts === 1 ? "is" : "are"} read beside what is known of you`;
}

/** A name that is new, though one that differs in its letters' case alone is known, may be a slip. */
function nextText(name: string, tasks: Tasks): string {
  const near = [...tasks.keys()].find((known) => known.toLowerCase() === name.toLowerCase());
  if (near !== undefined && !tasks.has(name)) return `There is a task “${near}”: /task ${near} chooses it.`;
  const flag = /\s/u.test(name) ? `"${name}"` : name;
  return `/remember --task ${flag} <text> keeps a fact of it; /task none leaves it.`;
}
