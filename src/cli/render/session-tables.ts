/** Shows sessions and commands as tables: `/sessions`, `/status`, `/help`. */
import type { z } from "zod";
import { printableLine } from "../printable.ts";
import type { Screen } from "../screen.ts";
import type { helpData, sessionsData, statusData } from "./fields.ts";
import { modelText } from "./model-text.ts";
import { table } from "./table.ts";

/** One command a line. */
export function renderHelp({ commands }: z.infer<typeof helpData>, screen: Screen): string {
  const rows = commands.map(({ usage, summary }) => [
    screen.paint.cyan(printableLine(usage)),
    printableLine(summary),
  ]);
  return table({ rows }, screen);
}

/** A screen narrower than this shows a session as a paragraph. */
const NARROW = 72;

/** One session a line, the latest marked. */
export function renderSessions({ sessions }: z.infer<typeof sessionsData>, screen: Screen): string {
  const rows = sessions.map((session) => sessionCells(session, screen));
  if (screen.columns >= NARROW)
    return table({ head: ["#", "began", "turns", "about", "because"], rows }, screen);
  return table({ rows: rows.map((cells) => sessionParagraph(cells, screen)) }, screen);
}

type SessionCells = readonly [number: string, began: string, turns: string, about: string, because: string];

function sessionCells(
  session: z.infer<typeof sessionsData>["sessions"][number],
  { paint }: Screen,
): SessionCells {
  return [
    session.latest ? paint.green(`${session.ordinal} ●`) : String(session.ordinal),
    printableLine(session.opened),
    String(session.turns),
    session.title === null ? paint.dim("(nothing said)") : printableLine(session.title),
    printableLine(session.openedBecause),
  ];
}

function sessionParagraph([number, began, turns, about, because]: SessionCells, screen: Screen): string[] {
  const facts = `${began}, ${turns} ${turns === "1" ? "turn" : "turns"}, ${because}`;
  return [number, `${about}\n${screen.paint.dim(facts)}`];
}

/** One fact a line. */
export function renderStatus(status: z.infer<typeof statusData>, screen: Screen): string {
  const { lastDecision } = status;
  const facts: readonly (readonly [string, string | null])[] = [
    ["title", status.title],
    ["task", status.task ?? null],
    ["answers", answererText(status)],
    ["began", because(status.created, status.openedBecause)],
    ["last turn", status.lastActivity],
    ["ends", status.expires],
    ["decision", lastDecision === null ? null : `${decisionWord(lastDecision.action)}: ${lastDecision.text}`],
    ["topic", topicText(status)],
    ["mode", status.mode === "segmented" ? null : `${status.mode}: one session, which /new clears in place`],
    ["time zone", status.timeZone],
    ["agent", status.agent],
    ["session id", status.sessionId],
    ["data", status.storage],
  ];
  const rows = facts.flatMap(([name, value]) =>
    value === null ? [] : [[screen.paint.dim(name), printableLine(value)]],
  );
  return table({ rows }, screen);
}

/** Which model answers. Without one, what was said and kept is quoted. */
function answererText({ model, modelChosen }: z.infer<typeof statusData>): string {
  return `${modelText(model)}${modelChosen ? " (you chose it)" : ""}`;
}

/** Who decides whether the topic changed, and how often nothing came of it. */
function topicText(status: z.infer<typeof statusData>): string | null {
  if (!status.topicRollover) return null;
  const unknown = status.topicUnknown === 0 ? "" : `; ${status.topicUnknown} times without a finding`;
  return `${status.controlModel}${unknown}`;
}

function because(instant: string | null, reason: string): string {
  return instant === null ? "with your first message" : `${instant}, ${reason}`;
}

function decisionWord(action: string): string {
  return action === "rotate" ? "began anew" : "went on";
}
