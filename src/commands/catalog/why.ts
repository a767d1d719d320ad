/** `/why [turn | last | failed | memory id]`: why a turn went as it went, or where a remembered fact comes from. */
import type { Envelope } from "#src/kernel/envelope.ts";
import { refused } from "#src/kernel/envelope.ts";
import { findWhichTurn } from "#src/explain/which-turn.ts";
import type { CommandContext, PlainCommand } from "../command.ts";
import { looksLikeId } from "./memory/find-record.ts";
import { actionContext, memoryOff } from "./memory/memory-action.ts";
import { whyFact } from "./why/why-fact.ts";
import { whyPrompt } from "./why/why-prompt.ts";
import { whyTurn } from "./why/why-turn.ts";

export const whyCommand: PlainCommand = {
  kind: "plain",
  name: "why",
  summary: "Explain the latest turn, another one, or a remembered fact",
  usage: "/why [turn number, failed [n], or memory id] [--prompt [call]]",
  effects: ["reads"],
  async run(args, context) {
    return { envelope: await why(args.trim().replace(/^#/u, ""), context) };
  },
};

/** A number is a turn, unless there is no such turn and it can be the beginning of an id. */
async function why(asked: string, context: CommandContext): Promise<Envelope> {
  const [, turn, call] = /^(\S*)\s*(?:--|—|–)prompt(?:\s+(\d{1,4}))?$/iu.exec(asked) ?? [];
  if (turn !== undefined) {
    const named = /^\d{1,9}$/u.test(turn) ? Number(turn) : await latestAsked(context);
    if (turn === "" || turn.toLowerCase() === "last" || /^\d{1,9}$/u.test(turn))
      return whyPrompt(context, named, call === undefined ? undefined : Number(call));
    return usage();
  }
  const which = await findWhichTurn(context.repository, context.session, asked);
  if (which !== undefined && !(which.kind === "missing" && looksLikeId(asked)))
    return whyTurn(context, which);
  if (!looksLikeId(asked)) return usage();
  const on = actionContext(context);
  return on === undefined ? memoryOff() : whyFact(on, asked);
}

/** The latest turn in which a model was asked; commands have none. */
async function latestAsked({ repository, session }: CommandContext): Promise<number> {
  const turns = await repository.readTurns(session, {
    from: Math.max(1, session.turns - 40),
    to: session.turns,
  });
  return turns.findLast(({ explanation }) => explanation.calls !== undefined)?.turn ?? session.turns;
}

function usage(): Envelope {
  return refused("command_usage", "that is neither the number of a turn nor the id of a remembered fact", {
    next: "/why explains the latest turn, /why 3 turn 3, /why 1a2b3c4d a fact; /history and /memory show list them.",
  });
}
