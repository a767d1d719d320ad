/** `/memory …`: the family of commands that show and correct what is remembered. */
import { done, refused, type Envelope } from "#src/kernel/envelope.ts";
import { counted, markdownTable } from "#src/kernel/markdown.ts";
import type { CommandOutcome, PlainCommand } from "../command.ts";
import { afterWords } from "../parse-command.ts";
import { conflictsAction, editAction, resolveAction, verifyAction } from "./memory/curate.ts";
import { evidenceForgetAction, evidenceIngestAction, evidenceShowAction } from "./memory/evidence.ts";
import { objectionTo } from "./memory/remembered.ts";
import {
  actionContext,
  memoryOff,
  usageOf,
  type ActionContext,
  type MemoryAction,
} from "./memory/memory-action.ts";
import { acceptAction, rejectAction, reviewAction } from "./memory/review.ts";
import { longShowAction, longTaskShowAction, shortShowAction, showAction } from "./memory/show.ts";
import { exportAction, importAction } from "./memory/transfer.ts";

/** All actions, in the order in which they are listed. */
const ACTIONS: readonly MemoryAction[] = [
  showAction,
  longShowAction,
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
  kind: "plain",
  name: "memory",
  summary: "Show and correct what is remembered; alone it lists how",
  usage: "/memory […]",
  effects: ["reads", "memory", "files"],
  onlyReads: (args) => actionFor(args)?.action.reads ?? true,
  async objection(args, context) {
    const on = actionContext(context);
    const asked = actionFor(args);
    return on === undefined ? memoryOff() : asked?.action.objection?.(asked.rest, on);
  },
  async run(args, context): Promise<CommandOutcome> {
    const on = actionContext(context);
    if (on === undefined) return { envelope: memoryOff() };
    if (args === "") return { envelope: await overview(on) };
    const asked = actionFor(args);
    if (asked !== undefined) return asked.action.run(asked.rest, on);
    return { envelope: (await objectionTo(args, on)) ?? unknownAction(args) };
  },
};

interface AskedAction {
  readonly action: MemoryAction;
  readonly rest: string;
}

/** The action with most words among those with which `args` begins. */
function actionFor(args: string): AskedAction | undefined {
  const asked = ACTIONS.flatMap((action): AskedAction[] => {
    const rest = afterWords(args, action.words);
    return rest === undefined ? [] : [{ action, rest }];
  });
  return asked.sort((a, b) => b.action.words.length - a.action.words.length)[0];
}

async function overview({ memory }: ActionContext): Promise<Envelope> {
  const { review, current, leftOut } = await memory.facts.overview(memory.who);
  const actions = ACTIONS.map((action) => ({ usage: usageOf(action), summary: action.summary }));
  const total = Object.values(current).reduce((sum, count) => sum + count, 0);
  const waiting = review === 0 ? "" : ` ${review} more ${review === 1 ? "waits" : "wait"} for a review.`;
  const message = `${total === 0 ? "Nothing" : counted(total, "fact")} ${total > 1 ? "are" : "is"} remembered.${waiting}`;
  return done("memory", message, {
    next: "/remember <text> keeps something, /forget <id or words> erases it.",
    data: {
      counts: { ...current, review, leftOut },
      actions,
    },
    body: [
      markdownTable(
        ["kind", "facts"],
        [
          ...Object.entries(current).map(([kind, count]) => [kind, String(count)]),
          ["for review", String(review)],
          ["not read", String(leftOut)],
        ],
      ),
      markdownTable(
        ["command", "what it does"],
        actions.map(({ usage, summary }) => [`\`${usage}\``, summary]),
      ),
    ].join("\n\n"),
  });
}

/** It does not repeat the words: who forgot `/remember` may have written a secret. */
function unknownAction(args: string): Envelope {
  const [first = "", second = ""] = args.toLowerCase().split(/\s+/u);
  for (const begin of [`${first} ${second}`, first]) {
    const parts = ACTIONS.filter(({ words }) => words.startsWith(`${begin} `)).map(usageOf);
    if (parts.length > 0)
      return refused("command_usage", `which part of /memory ${begin}?`, {
        next: `Write ${parts.join(", or ")}.`,
      });
  }
  return refused("command_usage", "/memory has no such part", {
    next: "/memory alone lists them; /remember <text> keeps something, /forget <id or words> erases it.",
  });
}
