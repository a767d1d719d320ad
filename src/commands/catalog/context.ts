/** What models are given: `/context [turn]` shows it by parts, from the receipts alone; `/compact` has the older turns told as a summary. */
import { barRows, beginningText, leftOutReasons, totalText } from "#src/explain/call-reasons.ts";
import { done } from "#src/kernel/envelope.ts";
import { counted, joined, markdownTable } from "#src/kernel/markdown.ts";
import { callsOf, type WholeCall } from "#src/sessions/call-receipt.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { refuse, type CommandContext, type PlainCommand } from "../command.ts";
import { refuseUsage } from "../parse-command.ts";

export const contextCommand: PlainCommand = {
  name: "context",
  summary: "Show what the model was given, part by part, and what was left out",
  usage: "/context [turn number]",
  effects: ["reads"],
  async run(args, context) {
    const asked = args.trim().replace(/^#/u, "");
    if (!/^\d{0,9}$/u.test(asked)) refuseUsage("that is not the number of a turn", this.usage);
    const turn =
      asked === ""
        ? await lastWithCalls(context, context.session.turns)
        : await lastWithCalls(context, Number(asked), Number(asked));
    const calls = callsIn(turn);
    const now = calls.at(-1);
    if (turn === undefined || now === undefined)
      return refuse(
        "turn_not_found",
        asked === "" ? "no model was asked yet" : `turn ${Number(asked)} asked no model`,
        {
          next: "/context shows what the latest model call was given; /history lists the turns.",
        },
      );
    const before = calls.at(-2) ?? callsIn(await lastWithCalls(context, turn.turn - 1)).at(-1);
    const which = calls.length === 1 ? "" : `, call ${calls.length} of ${calls.length}`;
    const headline = `Turn ${turn.turn}${which}: ${now.model} was given ${totalText(now)}.`;
    const leftOut = leftOutReasons(now);
    const beginning = beginningText(before, now);
    const lines = [...leftOut.map((reason) => `left out: ${reason}`), `beginning: ${beginning}`];
    const table = markdownTable(["part", "tokens", "share of the budget"], barRows(now));
    return done("context", [headline, ...lines].join("\n"), {
      next: `/why ${turn.turn} --prompt shows the prompt itself.`,
      lead: headline,
      body: [table, lines.map((line) => `- ${line}`).join("\n")].join("\n\n"),
      data: { turn: turn.turn, calls, leftOut, beginning },
    });
  },
};

/** Commands call no model: the latest turn that did is looked for among so many. */
const LOOKED_AT = 40;

/** The newest turn up to `to` in which a model was asked. */
export async function lastWithCalls(
  { repository, session }: CommandContext,
  to: number,
  from = Math.max(1, to - LOOKED_AT),
): Promise<TurnRecord | undefined> {
  if (to < from) return undefined;
  const turns = await repository.readTurns(session, { from, to });
  return turns.findLast(({ explanation }) => (explanation.calls ?? []).length > 0);
}

const callsIn = (turn: TurnRecord | undefined): WholeCall[] =>
  turn === undefined ? [] : callsOf(turn.sessionId, turn.explanation.calls);

export const compactCommand: PlainCommand = {
  name: "compact",
  summary: "Give models the older turns of this conversation as a summary from now on",
  usage: "/compact [instructions]",
  effects: ["session", "model"],
  async run(args, { compact }) {
    const outcome = (await compact?.(args)) ?? { kind: "nothing" as const, why: "it cannot be done here" };
    if (outcome.kind === "nothing") return done("compact_nothing", `Nothing was compacted: ${outcome.why}.`);
    const { boundary, turns, before, tokens, by, notices, whyNot } = outcome;
    const told = [
      `${counted(turns, "turn")} that took about ${counted(before, "token")} are told in a summary of about ${counted(tokens, "token")} from now on.`,
      by === "built-in" ? "It is made of quotations." : `${by} wrote it.`,
      whyNot === undefined ? "" : `No model wrote it: ${whyNot}.`,
      ...notices,
    ];
    return {
      envelope: done("compacted", joined(told), {
        next: "The conversation itself is as it was: /history and /recall read all of it.",
        data: { turns, before, tokens, by, to: { sessionId: boundary.sessionId, turn: boundary.turn } },
      }),
      changes: { compacted: boundary },
    };
  },
};
