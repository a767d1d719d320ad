/** `/context [turn]`: what the latest model call was given, by parts, what was left out and why. Reads the receipts alone. */
import {
  barRows,
  beginningText,
  leftOutReasons,
  totalText,
  type CallWithTurns,
} from "#src/explain/call-reasons.ts";
import { done, refused, type Envelope } from "#src/kernel/envelope.ts";
import { markdownTable } from "#src/kernel/markdown.ts";
import { turnsOfCall } from "#src/sessions/call-receipt.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import type { CommandContext, PlainCommand } from "../command.ts";
import { usageEnvelope } from "../parse-command.ts";

export const contextCommand: PlainCommand = {
  kind: "plain",
  name: "context",
  summary: "Show what the model was given, part by part, and what was left out",
  usage: "/context [turn number]",
  effects: ["reads"],
  async run(args, context) {
    const asked = args.trim().replace(/^#/u, "");
    if (asked !== "" && !/^\d{1,9}$/u.test(asked))
      return { envelope: usageEnvelope("that is not the number of a turn", this.usage) };
    return {
      envelope: await contextOf(context, asked === "" ? context.session.turns : Number(asked), asked === ""),
    };
  },
};

/** Commands call no model: the latest turn that did is looked for among so many. */
const LOOKED_AT = 40;

async function contextOf(context: CommandContext, number: number, isLatest: boolean): Promise<Envelope> {
  const from = isLatest ? number - LOOKED_AT : number;
  const turn = await lastWithCalls(context, Math.max(1, from), number);
  if (turn === undefined)
    return refused("turn_not_found", isLatest ? "no model was asked yet" : `turn ${number} asked no model`, {
      next: "/context shows what the latest model call was given; /history lists the turns.",
    });
  const { calls = [] } = turn.explanation;
  const now = callAt(calls, calls.length - 1);
  const before =
    callAt(calls, calls.length - 2) ??
    lastCall(await lastWithCalls(context, Math.max(1, turn.turn - LOOKED_AT), turn.turn - 1));
  if (now === undefined) throw new Error("a turn with calls has a last one");
  const which = calls.length === 1 ? "" : `, call ${calls.length} of ${calls.length}`;
  const headline = `Turn ${turn.turn}${which}: ${now.call.model} was given ${totalText(now.call)}.`;
  const leftOut = leftOutReasons(now.call);
  const beginning = beginningText(before, now);
  const lines = [...leftOut.map((reason) => `left out: ${reason}`), `beginning: ${beginning}`];
  const table = markdownTable(["part", "tokens", "share of the budget"], barRows(now.call));
  return done("context", [headline, ...lines].join("\n"), {
    next: `/why ${turn.turn} --prompt shows the prompt itself.`,
    lead: headline,
    body: [table, lines.map((line) => `- ${line}`).join("\n")].join("\n\n"),
    data: { turn: turn.turn, calls: calls.map((call) => ({ ...call })), leftOut, beginning },
  });
}

/** The newest turn of a range in which a model was asked. */
async function lastWithCalls(
  { repository, session }: CommandContext,
  from: number,
  to: number,
): Promise<TurnRecord | undefined> {
  if (to < from) return undefined;
  const turns = await repository.readTurns(session, { from, to });
  return turns.findLast(({ explanation }) => (explanation.calls ?? []).length > 0);
}

function callAt(
  calls: NonNullable<TurnRecord["explanation"]["calls"]>,
  index: number,
): CallWithTurns | undefined {
  const call = calls[index];
  return call && { call, turns: turnsOfCall(calls, index) };
}

function lastCall(turn: TurnRecord | undefined): CallWithTurns | undefined {
  const { calls = [] } = turn?.explanation ?? {};
  return callAt(calls, calls.length - 1);
}
