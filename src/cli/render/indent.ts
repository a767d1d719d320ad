/** Wraps text to the screen, also under a hanging label. */
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";
import { printable } from "../printable.ts";
import type { Screen } from "../screen.ts";

/** `text` behind `label`, its further lines indented as far as the label is wide. `label` may be coloured. */
export function labelled(label: string, text: string, screen: Screen): string {
  const indent = stringWidth(label) + 1;
  return wrapLines(printable(text).trim(), screen.columns - indent)
    .map((line, index) => `${index === 0 ? `${label} ` : " ".repeat(indent)}${line}`.trimEnd())
    .join("\n");
}

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
