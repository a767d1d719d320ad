/** Shows an envelope to a person: its text, or its message and next step; a failure in a box. */
import type { Envelope } from "#src/kernel/envelope.ts";
import { joined } from "#src/kernel/markdown.ts";
import { printable } from "../printable.ts";
import type { Screen } from "../screen.ts";
import { renderAnswer } from "./answer.ts";
import { panel } from "./panel.ts";
import { table } from "./table.ts";
import { wrapped, wrapWords } from "./word-wrap.ts";

/** The envelope of something done, as text of several lines without a line break at its end. */
export function renderEnvelope(envelope: Envelope, screen: Screen): string {
  if (!envelope.ok) return renderFailure(envelope, screen);
  if (envelope.code === "answered") {
    const answer = printable(envelope.message);
    if (!screen.isPlain) return renderAnswer(answer, screen);
    return screen.isTerminal ? wrapWords(answer, screen.columns) : answer;
  }
  const next = envelope.next === undefined ? "" : screen.paint.dim(wrapped(envelope.next, screen));
  const said =
    envelope.text === undefined
      ? wrapped(envelope.message, screen)
      : renderMarkdown(withoutNext(envelope, envelope.text), screen);
  return joined([said, next], envelope.text === undefined ? "\n" : "\n\n");
}

/** The text without the next step at its end, which is shown in its own way. */
function withoutNext({ next = "" }: Envelope, text: string): string {
  return text.endsWith(next) ? text.slice(0, text.length - next.length).trimEnd() : text;
}

/** What an envelope shows beside its message and next step; `""` for nothing. */
export function renderBody(envelope: Envelope, screen: Screen): string {
  if (envelope.text === undefined) return "";
  const [, ...body] = withoutNext(envelope, envelope.text).split("\n\n");
  return renderMarkdown(body.join("\n\n"), screen);
}

/** What went wrong and what to do about it, with what there is to choose from. */
export function renderFailure(envelope: Envelope, screen: Screen): string {
  const message = screen.isTerminal ? sentence(envelope.message) : envelope.message;
  const paragraphs = [message, ...(envelope.next === undefined ? [] : [envelope.next])];
  const told = panel(paragraphs, screen, { tone: "failure", title: envelope.code });
  const shown = renderBody(envelope, screen);
  return shown === "" ? told : `${told}\n${shown}`;
}

/** A message that begins in lower case, as errors do, as a sentence of its own. The name of a file stays as it is. */
function sentence(message: string): string {
  const trimmed = message.trim();
  const begin = trimmed.replace(/^\p{Ll}(?=[\p{L}'’-]*(?:[\s,;]|$))/u, (letter) => letter.toUpperCase());
  return `${begin}${/[.!?…:]$/u.test(trimmed) ? "" : "."}`;
}

/** A screen narrower than this shows a row of more than two cells as a paragraph. */
const NARROW = 72;

/** The Markdown of Lily's own replies: paragraphs, tables, and what is bold at their beginning. */
function renderMarkdown(text: string, screen: Screen): string {
  return printable(text)
    .split(/\n{2,}/u)
    .map((block) =>
      /^\|.*\|\n\|(?: --- \|)+/u.test(block) ? renderTable(block, screen) : renderParagraph(block, screen),
    )
    .join("\n\n");
}

function renderParagraph(block: string, screen: Screen): string {
  const { bold } = screen.paint;
  return wrapped(block, screen).replace(/^\*\*([\s\S]+?)\*\*/u, (_all, name: string) => bold(name));
}

function renderTable(block: string, screen: Screen): string {
  const { paint } = screen;
  const [head = [], , ...lines] = block.split("\n").map(cellsOf);
  const rows = lines.map(([first = "", ...rest]) => [paint.cyan(first), ...rest]);
  if (head.length > 2 && screen.columns < NARROW)
    return table({ rows: rows.map(([first = "", ...rest]) => [first, joined(rest, "\n")]) }, screen);
  return table(head.every((cell) => cell === "") ? { rows } : { head, rows }, screen);
}

/** The cells of a line; a code span that fills a cell is shown without its marks. */
function cellsOf(line: string): string[] {
  return line
    .slice(2, -2)
    .split(" | ")
    .map((cell) =>
      cell
        .replaceAll(/\\([\\|])/gu, "$1")
        .replace(/^`(.+)`$/u, "$1")
        .trim(),
    );
}
