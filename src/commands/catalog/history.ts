/** What was said: `/history` shows the newest turns of a session and of what it continues, `/recall` finds what is not in the context. */
import { heldNow, recalledText, recallTurns, type RecalledPiece } from "#src/context/recall.ts";
import { done, type Envelope } from "#src/kernel/envelope.ts";
import { joined, markdownSaid, quoted } from "#src/kernel/markdown.ts";
import { localTime } from "#src/kernel/clock.ts";
import { isRedacted, type StoredTurn } from "#src/sessions/redaction.ts";
import { newestTurns, withMarks } from "#src/sessions/transcript.ts";
import { refuse, type PlainCommand } from "../command.ts";

const DEFAULT_TURNS = 10;
const MAX_TURNS = 1000;

export const historyCommand: PlainCommand = {
  name: "history",
  summary: "Show the latest turns of this conversation",
  usage: "/history [number of turns]",
  effects: ["reads"],
  async run(args, { repository, chain, entry, policy }) {
    const count = args === "" ? DEFAULT_TURNS : Number(args);
    if (!Number.isInteger(count) || count < 1 || count > MAX_TURNS)
      refuse("command_usage", `${quoted(args)} is not a number of turns from 1 to ${MAX_TURNS}`, {
        next: "For example: /history 20",
      });
    const { sessionId } = entry;
    const turns = await newestTurns(withMarks(repository), chain, { sessionId, count });
    const rows = turns.map((turn) => rowOf(turn, policy.timeZone));
    const message =
      rows.length === 0
        ? "Nothing was said in this conversation yet."
        : rows.length === 1
          ? "The latest turn."
          : `The latest ${rows.length} turns.`;
    return done("history", message, { data: { turns: rows }, body: rows.map(turnText).join("\n\n") });
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
  // A damaged turn that was erased has no time.
  const timeOf = (instant: string): string => (instant === "" ? "" : localTime(instant, timeZone));
  const place = { sessionId, turn, at: timeOf(at), kind };
  if (isRedacted(stored))
    return { ...place, status: "erased" as const, erasedAt: timeOf(stored.redacted.at), messages: [] };
  const messages = stored.messages.map(({ role, content }) => ({ role, content }));
  return { ...place, status: stored.status, erasedAt: undefined, messages };
}

export const recallCommand: PlainCommand = {
  name: "recall",
  summary: "Find something that was said earlier",
  usage: "/recall <words>",
  effects: ["reads", "session"],
  async run(args, { repository, chain, session, policy: { timeZone }, recallCharacters: characters }) {
    if (args === "")
      refuse("command_usage", "/recall needs the words to look for", {
        next: "For example: /recall flight number",
      });
    const request = { chain, query: args, rationale: `the user asked with /recall ${args}`, characters };
    const held = await heldNow(repository, chain, session);
    const recalled = await recallTurns(repository, { ...request, held });
    if (recalled.length === 0)
      return nothingElse(args, await recallTurns(repository, { ...request, held: [], limit: 3 }));
    return {
      envelope: done("recall", recalledText(recalled, timeZone), {
        data: { found: recalled },
        lead: "From what was said earlier:",
        body: recalled.map((piece) => pieceText(piece, timeZone)).join("\n\n"),
      }),
      recalled: recalled.map(({ sessionId, turn, at, score, rationale }) => ({
        sessionId,
        turn,
        at,
        score,
        rationale,
      })),
    };
  },
};

/** What is in the context is not brought in a second time, but told. */
function nothingElse(args: string, shown: readonly RecalledPiece[]): Envelope {
  if (shown.length === 0)
    return done("recall", `Nothing that was said earlier fits ${quoted(args)}.`, {
      next: "/sessions lists what there is.",
      data: { found: [] },
    });
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
