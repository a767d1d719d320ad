/** `/recall <query>`: brings back what was said and is not in the context, because the user asked. */
import { joined, quoted } from "#src/kernel/markdown.ts";
import { done, refused, type Envelope } from "#src/kernel/envelope.ts";
import { heldNow, recallTurns, recalledText, type RecalledPiece } from "#src/context/recall.ts";
import { markdownSaid } from "#src/kernel/markdown.ts";
import { localTime } from "#src/sessions/day-boundary.ts";
import type { PlainCommand } from "../command.ts";

export const recallCommand: PlainCommand = {
  kind: "plain",
  name: "recall",
  summary: "Find something that was said earlier",
  usage: "/recall <words>",
  effects: ["reads", "session"],
  async run(args, { repository, chain, session, policy, recallCharacters: characters }) {
    if (args === "") {
      return {
        envelope: refused("command_usage", "/recall needs the words to look for", {
          next: "For example: /recall flight number",
        }),
      };
    }
    const rationale = `the user asked with /recall ${args}`;
    const request = { chain, query: args, rationale, characters };
    const held = await heldNow(repository, chain, session);
    const recalled = await recallTurns(repository, { ...request, held });
    if (recalled.length === 0) {
      const shown = await recallTurns(repository, { ...request, held: [], limit: 3 });
      return { envelope: shown.length === 0 ? nothing(args) : nothingElse(args, shown) };
    }
    return {
      envelope: done("recall", recalledText(recalled, policy.timeZone), {
        data: { found: recalled.map((piece) => ({ ...piece })) },
        lead: "From what was said earlier:",
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

function nothing(args: string): Envelope {
  return done("recall", `Nothing that was said earlier fits ${quoted(args)}.`, {
    next: "/sessions lists what there is.",
    data: { found: [] },
  });
}

/** What is in the context is not brought in a second time, but told. */
function nothingElse(args: string, shown: readonly RecalledPiece[]): Envelope {
  const places = shown.map(({ ordinal, turn }) => `session ${ordinal}, turn ${turn}`).join("; ");
  return done("recall", `Nothing fits ${quoted(args)} but what this conversation shows: ${places}.`, {
    next: "Lily has that before it: ask about it.",
    data: { found: [], shown: shown.map(({ sessionId, turn, at, user }) => ({ sessionId, turn, at, user })) },
  });
}

/** Where it is from, then who said what. */
function pieceText({ ordinal, turn, at, user, assistant }: RecalledPiece, timeZone: string): string {
  const from = `**session ${ordinal}, turn ${turn}, ${localTime(at, timeZone)}**`;
  return joined([from, markdownSaid("user", user), markdownSaid("assistant", assistant)], "\n\n");
}
