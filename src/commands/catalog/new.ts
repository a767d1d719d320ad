/** `/new [text]`: ends the session and begins the next; with text, the next one answers it. */
import { done } from "#src/kernel/envelope.ts";
import type { RotatingCommand } from "../command.ts";

export const newCommand: RotatingCommand = {
  kind: "rotating",
  name: "new",
  summary: "End this conversation and begin a new one",
  usage: "/new [text]",
  effects: ["session"],
  clearsInPlace: true,
  textBehind: (args) => args,
  plan: (args) => ({ continues: [], text: args }),
  notice: (ended, opened) =>
    done("session_rotated", `A new conversation began (session ${opened.ordinal}).`, {
      next: `/rejoin brings session ${ended.ordinal} back.`,
      data: {
        sessionId: opened.sessionId,
        ordinal: opened.ordinal,
        previous: ended.sessionId,
        sealedTurns: ended.sealed?.turns ?? 0,
      },
    }),
};
