/** `/rejoin [text]`: undoes the latest rollover. A new session continues what was before it and what was said since. */
import { refused } from "#src/kernel/envelope.ts";
import { continuationOf, entryOf, lineageOf } from "#src/sessions/chain.ts";
import type { RotatingCommand } from "../command.ts";
import { resumedEnvelope } from "./resume.ts";

export const rejoinCommand: RotatingCommand = {
  kind: "rotating",
  name: "rejoin",
  summary: "Undo the latest rollover: go on with both parts of the conversation",
  usage: "/rejoin [text]",
  effects: ["session"],
  textBehind: (args) => args,
  plan(args, { chain, entry, session }) {
    const previous = entryOf(chain, entry.previous ?? "");
    if (previous === undefined) return nothing("this is the first conversation of its key");
    if (lineageOf(chain, entry.sessionId).includes(previous.sessionId))
      return nothing(`session ${entry.ordinal} goes on with session ${previous.ordinal} already`);
    return { continues: continuationOf(chain, previous.sessionId, entry, session.turns), text: args };
  },
  notice: resumedEnvelope,
};

function nothing(why: string) {
  return refused("session_not_found", `there is no rollover to undo: ${why}`, {
    next: "/sessions lists what there is, /resume <number> goes on with one of them.",
  });
}
