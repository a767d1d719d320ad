/** A boxed paragraph on a terminal, a plain one elsewhere. */
import boxen from "boxen";
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";
import { printable } from "../printable.ts";
import type { Screen } from "../screen.ts";

export interface PanelOptions {
  readonly title?: string;
  /** `notice` is dim, `failure` red, `question` yellow. */
  readonly tone: "notice" | "failure" | "question";
  /** Stands behind the paragraphs, with its indentation. */
  readonly code?: string;
  /** Stands at the end. */
  readonly last?: string;
}

const MAX_WIDTH = 100;
/** Border and padding on both sides. */
const FRAME = 4;

/** `paragraphs` in a box that fits the screen; they are made printable here. */
export function panel(
  paragraphs: readonly string[],
  screen: Screen,
  { title: named = "", tone, code: given = "", last = "" }: PanelOptions,
): string {
  const clean = (part: string): string => printable(part).trim();
  const [title, code] = [printable(named), printable(given)];
  const parts = [...paragraphs.map(clean), code, clean(last)].filter((part) => part !== "");
  if (!screen.isTerminal) return parts.join("\n");
  const room = Math.min(screen.columns, MAX_WIDTH) - FRAME;
  const lines = parts.flatMap((part) =>
    wrapAnsi(part, room, { hard: true, trim: part !== code }).split("\n"),
  );
  const widest = Math.max(stringWidth(title) + 2, ...lines.map((line) => stringWidth(line)));
  const isNotice = tone === "notice";
  return boxen(lines.map((line) => (isNotice ? screen.paint.dim(line) : line)).join("\n"), {
    width: widest + FRAME,
    padding: { left: 1, right: 1, top: 0, bottom: 0 },
    borderStyle: "round",
    ...(title === "" ? {} : { title }),
    ...borderOf(screen, tone),
  });
}

function borderOf(screen: Screen, tone: PanelOptions["tone"]): { dimBorder?: boolean; borderColor?: string } {
  if (screen.paint.level === 0) return {};
  if (tone === "notice") return { dimBorder: true };
  return { borderColor: tone === "failure" ? "red" : "yellow" };
}
