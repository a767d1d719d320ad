/** A boxed paragraph on a terminal, a plain one elsewhere. */
import boxen from "boxen";
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";
import { printable } from "../printable.ts";
import type { Screen } from "../screen.ts";

export interface PanelOptions {
  readonly title?: string;
  /** `notice` is dim, `failure` red. */
  readonly tone: "notice" | "failure";
}

const MAX_WIDTH = 100;
/** Border and padding on both sides. */
const FRAME = 4;

/** `paragraphs` in a box that fits the screen; they are made printable here. */
export function panel(paragraphs: readonly string[], screen: Screen, options: PanelOptions): string {
  const text = paragraphs
    .map((paragraph) => printable(paragraph).trim())
    .filter((paragraph) => paragraph !== "");
  if (!screen.isTerminal) return text.join("\n");
  const room = Math.min(screen.columns, MAX_WIDTH) - FRAME;
  const lines = text.flatMap((paragraph) => wrapAnsi(paragraph, room, { hard: true }).split("\n"));
  const title = options.title === undefined ? "" : printable(options.title);
  const widest = Math.max(stringWidth(title) + 2, ...lines.map((line) => stringWidth(line)));
  const isNotice = options.tone === "notice";
  return boxen(lines.map((line) => (isNotice ? screen.paint.dim(line) : line)).join("\n"), {
    width: widest + FRAME,
    padding: { left: 1, right: 1, top: 0, bottom: 0 },
    borderStyle: "round",
    ...(title === "" ? {} : { title }),
    ...borderOf(screen, isNotice),
  });
}

function borderOf(screen: Screen, isNotice: boolean): { dimBorder?: boolean; borderColor?: string } {
  if (screen.paint.level === 0) return {};
  return isNotice ? { dimBorder: true } : { borderColor: "red" };
}
