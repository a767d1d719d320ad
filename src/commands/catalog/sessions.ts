/** The conversations of a key: `/sessions` lists them, `/new` begins one, `/resume` and `/rejoin` open one that goes on with earlier ones. */
import { verdictText } from "#src/explain/verdict-text.ts";
import { done, envelopeOf, refused, type Envelope } from "#src/kernel/envelope.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { counted, markdownTable, quoted } from "#src/kernel/markdown.ts";
import {
  continuationOf,
  entryOf,
  findSessionByReference,
  lineageOf,
  type Chain,
  type ChainEntry,
} from "#src/sessions/chain.ts";
import { localTime } from "#src/kernel/clock.ts";
import type { CommandContext, PlainCommand, RotatingCommand } from "../command.ts";

const MAX_LISTED = 50;

export const sessionsCommand: PlainCommand = {
  name: "sessions",
  summary: "List the conversations of this key",
  usage: "/sessions [query]",
  effects: ["reads"],
  async run(args, context) {
    const { chain } = context;
    const chosen = args === "" ? chain.sessions : await matching(args, context);
    const shown = chosen.slice(-MAX_LISTED);
    const rows = await Promise.all(shown.map((entry) => rowOf(entry, context)));
    const total = chain.sessions.length;
    const clipped = chosen.length > shown.length ? `; the newest ${shown.length} are listed` : "";
    const message =
      args === ""
        ? `${counted(total, "session")} of ${chain.sessionKey}${clipped}.`
        : `${rows.length} of ${total} sessions match ${quoted(args)}.`;
    return done("sessions", message, {
      next: rows.length === 0 ? "/sessions lists them all." : "/resume <number> goes on with one of them.",
      data: { sessionKey: chain.sessionKey, sessions: rows },
      body: markdownTable(
        ["#", "began", "turns", "about", "because"],
        rows.map(({ ordinal, latest, opened, turns, title, openedBecause }) => [
          `${ordinal}${latest ? " ●" : ""}`,
          opened,
          String(turns),
          title ?? "(nothing said)",
          openedBecause,
        ]),
      ),
    });
  },
};

async function matching(query: string, context: CommandContext): Promise<ChainEntry[]> {
  const found = await context.repository.searchTurns(context.chain, query, 200);
  const ids = new Set(found.map((turn) => turn.sessionId));
  const words = query.toLowerCase();
  return context.chain.sessions.filter(
    (entry) => ids.has(entry.sessionId) || (titleOf(entry, context) ?? "").toLowerCase().includes(words),
  );
}

/** The title that the user gave; that of the open session is not in the chain yet. */
function titleOf(entry: ChainEntry, { session }: CommandContext): string | undefined {
  return entry.sessionId === session.sessionId ? (session.title ?? entry.title) : entry.title;
}

async function rowOf(entry: ChainEntry, context: CommandContext) {
  const zone = context.policy.timeZone;
  const latest = entry.sessionId === context.chain.latest;
  return {
    ordinal: entry.ordinal,
    sessionId: entry.sessionId,
    latest,
    title: titleOf(entry, context) ?? (await firstWords(entry, context)),
    turns: latest ? context.session.turns : (entry.sealed?.turns ?? 0),
    opened: localTime(entry.opened.at, zone),
    openedBecause: openedBecause(entry, zone),
    sealed: entry.sealed === undefined ? null : localTime(entry.sealed.at, zone),
    continues: entry.continues,
  };
}

/** Why a session began. */
export function openedBecause({ opened: { verdict } }: ChainEntry, timeZone: string): string {
  return verdict === undefined ? "first message" : verdictText(verdict, timeZone);
}

/** A title for a session that was given none: how its first message begins. */
async function firstWords(
  { sessionId }: ChainEntry,
  { chain, repository }: CommandContext,
): Promise<string | null> {
  const begin = await repository.readTurns({ ...chain, sessionId }, { from: 1, to: 5 });
  const first = begin.find((turn) => turn.kind === "chat");
  const said = first?.messages.find((message) => message.role === "user")?.content ?? "";
  const text = said.replaceAll(/\s+/gu, " ").trim();
  if (text === "") return null;
  return text.length > 48 ? `${text.slice(0, 47).toWellFormed()}…` : text;
}

/** Ends the session and begins the next; with text, the next one answers it. */
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

/** Undoes the latest rollover: a new session continues what was before it and what was said since. */
export const rejoinCommand: RotatingCommand = {
  kind: "rotating",
  name: "rejoin",
  summary: "Undo the latest rollover: go on with both parts of the conversation",
  usage: "/rejoin [text]",
  effects: ["session"],
  textBehind: (args) => args,
  plan(args, { chain, entry, session }) {
    const previous = entryOf(chain, entry.previous ?? "");
    if (previous === undefined) return nothingToUndo("this is the first conversation of its key");
    if (lineageOf(chain, entry.sessionId).includes(previous.sessionId))
      return nothingToUndo(`session ${entry.ordinal} goes on with session ${previous.ordinal} already`);
    return { continues: continuationOf(chain, previous.sessionId, entry, session.turns), text: args };
  },
  notice: resumedEnvelope,
};

function nothingToUndo(why: string): Envelope {
  return refused("session_not_found", `there is no rollover to undo: ${why}`, {
    next: "/sessions lists what there is, /resume <number> goes on with one of them.",
  });
}

/** Opens a session that continues an earlier one; nothing sealed is reopened. */
export const resumeCommand: RotatingCommand = {
  kind: "rotating",
  name: "resume",
  summary: "Go on with an earlier conversation, in a new session that continues it",
  usage: "/resume [number or id]",
  effects: ["session"],
  textBehind: () => "",
  plan(args, context) {
    try {
      return { continues: args === "" ? previousOf(context) : [namedIn(args, context)], text: "" };
    } catch (error) {
      return envelopeOf(error);
    }
  },
  notice: resumedEnvelope,
};

/** Without an argument: what was before, and after it what was said since, so that no message is left behind. */
function previousOf({ chain, entry, session }: Parameters<RotatingCommand["plan"]>[1]): readonly string[] {
  const previous = chain.sessions
    .slice(0, entry.ordinal - 1)
    .findLast((earlier) => (earlier.sealed?.turns ?? 0) > 0 || earlier.continues.length > 0);
  if (previous === undefined)
    throw new LilyError("session_not_found", "nothing was said before this conversation", {
      next: "/sessions lists what there is.",
    });
  return continuationOf(chain, previous.sessionId, entry, session.turns);
}

function namedIn(args: string, { chain, entry }: Pick<CommandContext, "chain" | "entry">): string {
  const wanted = findSessionByReference(chain, args);
  if (wanted.sessionId === entry.sessionId)
    throw new LilyError("command_usage", `session ${wanted.ordinal} is the one you are in`, {
      next: "/sessions lists the others.",
    });
  return wanted.sessionId;
}

/** What is told of a session that goes on with others. */
function resumedEnvelope(ended: ChainEntry, opened: ChainEntry, chain: Chain): Envelope {
  const names = opened.continues.map((sessionId) => nameOf(chain, sessionId)).join(", then ");
  return done("session_resumed", `Session ${opened.ordinal} goes on with ${names}.`, {
    next: `/resume ${ended.ordinal} goes back to the one that just ended, by itself.`,
    data: {
      sessionId: opened.sessionId,
      ordinal: opened.ordinal,
      continues: opened.continues,
      previous: ended.sessionId,
    },
  });
}

function nameOf(chain: Chain, sessionId: string): string {
  const entry = entryOf(chain, sessionId);
  const title = entry?.title === undefined ? "" : ` (“${entry.title}”)`;
  return `session ${entry?.ordinal ?? "?"}${title}`;
}
