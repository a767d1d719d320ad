/** `/recall <query>`: brings pieces of earlier sessions into this one, because the user asked. */
import { quoted } from "#src/explain/reason.ts";
import { done, refused } from "#src/kernel/envelope.ts";
import { recallTurns, recalledText, type RecalledPiece } from "#src/context/recall.ts";
import { markdownSaid } from "#src/kernel/markdown.ts";
import { localTime } from "#src/sessions/day-boundary.ts";
import type { PlainCommand } from "../command.ts";

export const recallCommand: PlainCommand = {
  kind: "plain",
  name: "recall",
  summary: "Find something that was said in an earlier conversation",
  usage: "/recall <words>",
  effects: ["reads", "session"],
  async run(args, { repository, chain, entry, policy }) {
    if (args === "") {
      return {
        envelope: refused("command_usage", "/recall needs the words to look for", {
          next: "For example: /recall flight number",
        }),
      };
    }
    const rationale = `the user asked with /recall ${args}`;
    const recalled = await recallTurns(repository, {
      chain,
      sessionId: entry.sessionId,
      query: args,
      rationale,
    });
    if (recalled.length === 0) {
      return {
        envelope: done("recall", `Nothing in earlier conversations fits ${quoted(args)}.`, {
          next: "/sessions lists what there is.",
          data: { found: [] },
        }),
      };
    }
    return {
      envelope: done("recall", recalledText(recalled, policy.timeZone), {
        data: { found: recalled.map((piece) => ({ ...piece })) },
        lead: "From earlier conversations:",
        body: recalled.map((piece) => pieceText(piece, policy.timeZone)).join("\n\n"),
      }),
      recalled: recalled.map(({ sessionId, turn, at, score, rationale: why }) => ({
        sessionId,
        turn,
        at,
        score,
        rationale: why,
      })),
    };
  },
};

/** Where it is from, then who said what. */
function pieceText({ ordinal, turn, at, user, assistant }: RecalledPiece, timeZone: string): string {
  const from = `**session ${ordinal}, turn ${turn}, ${localTime(at, timeZone)}**`;
  return [from, markdownSaid("user", user), markdownSaid("assistant", assistant)]
    .filter((part) => part !== "")
    .join("\n\n");
}
