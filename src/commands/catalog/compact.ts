/** `/compact [instructions]`: tells the older turns of this conversation to models as a summary from now on. */
import { counted } from "#src/kernel/markdown.ts";
import { done } from "#src/kernel/envelope.ts";
import type { PlainCommand } from "../command.ts";

export const compactCommand: PlainCommand = {
  kind: "plain",
  name: "compact",
  summary: "Give models the older turns of this conversation as a summary from now on",
  usage: "/compact [instructions]",
  effects: ["session", "model"],
  async run(args, { compact }) {
    const outcome = (await compact?.(args)) ?? { kind: "nothing" as const, why: "it cannot be done here" };
    if (outcome.kind === "nothing")
      return { envelope: done("compact_nothing", `Nothing was compacted: ${outcome.why}.`) };
    const { boundary, turns, before, tokens, by, notices, whyNot } = outcome;
    const how = [
      by === "built-in" ? "It is made of quotations." : `${by} wrote it.`,
      whyNot === undefined ? "" : `No model wrote it: ${whyNot}.`,
      ...notices,
    ];
    const message = `${counted(turns, "turn")} that took about ${counted(before, "token")} are told in a summary of about ${counted(tokens, "token")} from now on.`;
    return {
      envelope: done("compacted", [message, ...how].filter((part) => part !== "").join(" "), {
        next: "The conversation itself is as it was: /history and /recall read all of it.",
        data: { turns, before, tokens, by, to: { sessionId: boundary.sessionId, turn: boundary.turn } },
      }),
      changes: { compacted: boundary },
    };
  },
};
