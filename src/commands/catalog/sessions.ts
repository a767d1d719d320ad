/** `/sessions [query]`: the sessions of this key, with times and reasons. */
import { counted, quoted } from "#src/kernel/markdown.ts";
import { done } from "#src/kernel/envelope.ts";
import { markdownTable } from "#src/kernel/markdown.ts";
import { verdictText } from "#src/explain/verdict-text.ts";
import { localTime } from "#src/sessions/day-boundary.ts";
import type { ChainEntry } from "#src/sessions/chain.ts";
import type { CommandContext, PlainCommand } from "../command.ts";

const MAX_LISTED = 50;

export const sessionsCommand: PlainCommand = {
  kind: "plain",
  name: "sessions",
  summary: "List the conversations of this key",
  usage: "/sessions [query]",
  effects: ["reads"],
  async run(args, context) {
    const chosen = args === "" ? context.chain.sessions : await matching(args, context);
    const shown = chosen.slice(-MAX_LISTED);
    const rows = await Promise.all(shown.map((entry) => rowOf(entry, context)));
    const total = context.chain.sessions.length;
    const left = chosen.length - shown.length;
    const message =
      args === ""
        ? `${counted(total, "session")} of ${context.chain.sessionKey}${left > 0 ? `; the newest ${shown.length} are listed` : ""}.`
        : `${rows.length} of ${total} sessions match ${quoted(args)}.`;
    return {
      envelope: done("sessions", message, {
        next: rows.length === 0 ? "/sessions lists them all." : "/resume <number> goes on with one of them.",
        data: { sessionKey: context.chain.sessionKey, sessions: rows },
        body: markdownTable(["#", "began", "turns", "about", "because"], rows.map(cellsOf)),
      }),
    };
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

/** One session a line, the latest marked. */
function cellsOf({
  ordinal,
  latest,
  opened,
  turns,
  title,
  openedBecause,
}: Awaited<ReturnType<typeof rowOf>>) {
  return [`${ordinal}${latest ? " ●" : ""}`, opened, String(turns), title ?? "(nothing said)", openedBecause];
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
    openedBecause:
      entry.opened.verdict === undefined ? "first message" : verdictText(entry.opened.verdict, zone),
    sealed: entry.sealed === undefined ? null : localTime(entry.sealed.at, zone),
    continues: entry.continues,
  };
}

/** A title for a session that was given none: how its first message begins. */
async function firstWords(entry: ChainEntry, context: CommandContext): Promise<string | null> {
  const ref = {
    owner: context.chain.owner,
    sessionKey: context.chain.sessionKey,
    sessionId: entry.sessionId,
  };
  const begin = await context.repository.readTurns(ref, { from: 1, to: 5 });
  const first = begin.find((turn) => turn.kind === "chat");
  const text = first?.messages
    .find((message) => message.role === "user")
    ?.content.replaceAll(/\s+/gu, " ")
    .trim();
  if (text === undefined || text === "") return null;
  return text.length > 48 ? `${text.slice(0, 47).toWellFormed()}…` : text;
}
