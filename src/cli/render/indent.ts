/** Wraps text to the screen under a hanging label. */
import stringWidth from "string-width";
import wrapAnsi from "wrap-ansi";
import { printable } from "../printable.ts";
import type { Screen } from "../screen.ts";

/** `text` behind `label`, its further lines indented as far as the label is wide. `label` may be coloured. */
export function labelled(label: string, text: string, screen: Screen): string {
  const indent = stringWidth(label) + 1;
  const lines = wrapAnsi(printable(text).trim(), screen.columns - indent, { hard: true, trim: false }).split("\n");
  return lines.map((line, index) => `${index === 0 ? `${label} ` : " ".repeat(indent)}${line}`.trimEnd()).join("\n");
}

/** `text` wrapped to the screen between words. */
export function wrapped(text: string, screen: Screen): string {
  return screen.isTerminal ? wrapAnsi(printable(text), screen.columns, { hard: true, trim: false }) : printable(text);
}
