/** Wraps text to the screen. */
import wrapAnsi from "wrap-ansi";
import { printable } from "../printable.ts";
import type { Screen } from "../screen.ts";

/** `text` wrapped to a terminal between words; elsewhere its lines stay as they are. */
export function wrapped(text: string, screen: Screen): string {
  return screen.isTerminal ? wrapLines(printable(text), screen.columns).join("\n") : printable(text);
}

/** Keeps the indentation of lines; the blank at which a line is broken goes. */
function wrapLines(text: string, width: number): string[] {
  return text.split("\n").flatMap((line) => {
    const [first = "", ...more] = wrapAnsi(line, width, { hard: true, trim: false }).split("\n");
    return [first.trimEnd(), ...more.map((rest) => rest.trim())];
  });
}
