/** `/memory …`: the family of commands that show and correct what is remembered. */
import { done, type Envelope } from "#src/kernel/envelope.ts";
import { counted, markdownTable } from "#src/kernel/markdown.ts";
import { allowedText } from "../allowed-text.ts";
import { refuse, type PlainCommand } from "../command.ts";
import { afterWords, refuseUsage } from "../parse-command.ts";
import {
  acceptAction,
  conflictsAction,
  editAction,
  rejectAction,
  resolveAction,
  reviewAction,
  verifyAction,
} from "./memory/curate.ts";
import { evidenceForgetAction, evidenceIngestAction, evidenceShowAction } from "./memory/evidence.ts";
import { usageOf, withMemory, type MemoryAction, type MemoryContext } from "./memory/memory-action.ts";
import { longTaskShowAction, shortShowAction, showAction } from "./memory/show.ts";
import { exportAction, importAction } from "./memory/transfer.ts";

/** All actions, in the order in which they are listed; the specification has names of its own for some. */
const ACTIONS: readonly MemoryAction[] = [
  showAction,
  { ...showAction, words: "long show", summary: "the same" },
  longTaskShowAction,
  shortShowAction,
  { ...shortShowAction, words: "short checkpoints", summary: "the same" },
  verifyAction,
  editAction,
  conflictsAction,
  resolveAction,
  reviewAction,
  acceptAction,
  rejectAction,
  exportAction,
  importAction,
  evidenceShowAction,
  evidenceIngestAction,
  evidenceForgetAction,
];

export const memoryCommand: PlainCommand = {
  name: "memory",
  summary: "Show and correct what is remembered; alone it lists how",
  usage: "/memory […]",
  effects: ["reads", "memory", "files"],
  onlyReads(args) {
    const asked = actionFor(args);
    return asked === undefined || asked.action.reads === true;
  },
  async check(args, given) {
    const context = withMemory(given);
    const asked = actionFor(args);
    await asked?.action.check?.(asked.rest, context);
  },
  async run(args, given) {
    const context = withMemory(given);
    if (args === "") return overview(context);
    const asked = actionFor(args);
    if (asked === undefined) {
      await allowedText(args, context);
      return refuseUnknownAction(args);
    }
    const { action, rest } = asked;
    if (rest === "" && action.asks !== undefined) refuseUsage(action.asks, usageOf(action));
    return action.run(rest, context);
  },
};

/** The action with most words among those with which `args` begins, and what follows them. */
function actionFor(args: string): { readonly action: MemoryAction; readonly rest: string } | undefined {
  return ACTIONS.flatMap((action) => {
    const rest = afterWords(args, action.words);
    return rest === undefined ? [] : [{ action, rest }];
  }).sort((a, b) => b.action.words.length - a.action.words.length)[0];
}

async function overview({ memory }: MemoryContext): Promise<Envelope> {
  const { review, current, leftOut } = await memory.facts.overview(memory.who);
  const actions = ACTIONS.map((action) => ({ usage: usageOf(action), summary: action.summary }));
  const total = Object.values(current).reduce((sum, count) => sum + count, 0);
  const waiting = review === 0 ? "" : ` ${review} more ${review === 1 ? "waits" : "wait"} for a review.`;
  const message = `${total === 0 ? "Nothing" : counted(total, "fact")} ${total > 1 ? "are" : "is"} remembered.${waiting}`;
  const counts = [
    ...Object.entries(current),
    ["for review", review] as const,
    ["not read", leftOut] as const,
  ];
  return done("memory", message, {
    next: "/remember <text> keeps something, /forget <id or words> erases it.",
    data: { counts: { ...current, review, leftOut }, actions },
    body: [
      markdownTable(
        ["kind", "facts"],
        counts.map(([kind, count]) => [kind, String(count)]),
      ),
      markdownTable(
        ["command", "what it does"],
        actions.map(({ usage, summary }) => [`\`${usage}\``, summary]),
      ),
    ].join("\n\n"),
  });
}

/** It does not repeat the words: who forgot `/remember` may have written a secret. */
function refuseUnknownAction(args: string): never {
  const [first = "", second = ""] = args.toLowerCase().split(/\s+/u);
  for (const begin of [`${first} ${second}`, first]) {
    const parts = ACTIONS.filter(({ words }) => words.startsWith(`${begin} `)).map(usageOf);
    if (parts.length > 0)
      refuse("command_usage", `which part of /memory ${begin}?`, { next: `Write ${parts.join(", or ")}.` });
  }
  return refuse("command_usage", "/memory has no such part", {
    next: "/memory alone lists them; /remember <text> keeps something, /forget <id or words> erases it.",
  });
}
