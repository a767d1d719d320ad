/** `/history [n]`: the newest turns of this session and of what it continues, from the transcript. */
import { joined, quoted } from "#src/kernel/markdown.ts";
import { done, refused } from "#src/kernel/envelope.ts";
import { markdownSaid } from "#src/kernel/markdown.ts";
import { localTime } from "#src/sessions/day-boundary.ts";
import { isRedacted, type StoredTurn } from "#src/sessions/redaction.ts";
import { newestTurns, withMarks } from "#src/sessions/transcript.ts";
import type { PlainCommand } from "../command.ts";

const DEFAULT_TURNS = 10;
const MAX_TURNS = 1000;

export const historyCommand: PlainCommand = {
  kind: "plain",
  name: "history",
  summary: "Show the latest turns of this conversation",
  usage: "/history [number of turns]",
  effects: ["reads"],
  async run(args, context) {
    const count = args === "" ? DEFAULT_TURNS : Number(args);
    if (!Number.isInteger(count) || count < 1 || count > MAX_TURNS) {
      return {
        envelope: refused(
          "command_usage",
          `${quoted(args)} is not a number of turns from 1 to ${MAX_TURNS}`,
          {
            next: "For example: /history 20",
          },
        ),
      };
    }
    const turns = await newestTurns(withMarks(context.repository), context.chain, {
      sessionId: context.entry.sessionId,
      count,
    });
    const rows = turns.map((turn) => rowOf(turn, context.policy.timeZone));
    const message =
      rows.length === 0
        ? "Nothing was said in this conversation yet."
        : rows.length === 1
          ? "The latest turn."
          : `The latest ${rows.length} turns.`;
    return {
      envelope: done("history", message, { data: { turns: rows }, body: rows.map(turnText).join("\n\n") }),
    };
  },
};

/** The time and how it ended, then who said what. */
function turnText({ at, status, erasedAt, messages }: ReturnType<typeof rowOf>): string {
  const ended = erasedAt === undefined ? status : `${status} on ${erasedAt}`;
  const said = messages
    .filter(({ role }) => role !== "system")
    .map(({ role, content }) => markdownSaid(role, content));
  return joined([`**${at}${status === "completed" ? "" : ` (${ended})`}**`, ...said], "\n\n");
}

/** An erased turn keeps its place: that something was said and erased is no secret, what it was is gone. */
function rowOf(stored: StoredTurn, timeZone: string) {
  const { at, kind, sessionId, turn } = stored;
  const place = { sessionId, turn, at: timeOf(at, timeZone), kind };
  if (isRedacted(stored))
    return {
      ...place,
      status: "erased" as const,
      erasedAt: timeOf(stored.redacted.at, timeZone),
      messages: [],
    };
  const messages = stored.messages.map(({ role, content }) => ({ role, content }));
  return { ...place, status: stored.status, erasedAt: undefined, messages };
}

/** A damaged turn that was erased has no time. */
function timeOf(at: string, timeZone: string): string {
  return at === "" ? "" : localTime(at, timeZone);
}
