/**
 * A summary of turns that a prompt has no room for: quotations of what the person said, chosen under a budget, or a model's text
 * with those that it lacks. Nothing of it is guessed: what a model drops is quoted, and what does not fit is counted. Pure.
 */
import { z } from "zod";
import { joined } from "#src/kernel/markdown.ts";
import { estimateTokens, wholeAt } from "#src/kernel/text.ts";
import { spokenText } from "#src/sessions/message.ts";
import { givenTurnsSchema } from "#src/sessions/call-receipt.ts";
import { answerOf } from "#src/sessions/transcript.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { escapeData, sectionTokens } from "./system-prompt.ts";
import { holdsIn, identifiersIn, type Identifier } from "./identifiers.ts";

/** Something of a turn that a summary says in the words in which it was said. */
const noteSchema = z.strictObject({
  sessionId: z.string(),
  turn: z.int(),
  /** Up to 3 it must be in a model's summary; 4 is given where there is room. */
  tier: z.union([z.literal(1), z.literal(2), z.literal(3), z.literal(4)]),
  text: z.string(),
  /** What of it must not be lost. */
  marks: z.array(z.string()),
  /** Who said it, where that is not the person. */
  from: z.enum(["assistant", "saver"]).optional(),
});

type Note = z.infer<typeof noteSchema>;

/** What may be left out of a model's summary. */
const REST = 4 as const;

/** Schema of {@link Summary}. */
export const summarySchema = z.strictObject({
  v: z.literal(1),
  /** The turns that it covers, without gaps, in the order in which they are read. */
  ranges: z.array(givenTurnsSchema),
  /** Of those turns as they stood. */
  hash: z.string(),
  text: z.string(),
  /** Quotations that had no room. */
  leftOut: z.int(),
  /** Reference of the model that wrote it, or `built-in`. */
  by: z.string(),
});

/** A summary as it is stored. */
export type Summary = z.infer<typeof summarySchema>;

/** Schema of {@link SummaryNotes}. */
export const summaryNotesSchema = z.strictObject({ hash: z.string(), notes: z.array(noteSchema) });

/** What a summary was made of, by its hash: the next one begins with it. */
export type SummaryNotes = z.infer<typeof summaryNotesSchema>;

/** What is said in a summary, and of what it was made. */
export type SummaryText = Pick<Summary, "text" | "leftOut"> & Pick<SummaryNotes, "notes">;

/** What a saver keeps in view of a turn, in words that stand by themselves. */
export type KeptNote = Pick<Note, "sessionId" | "turn" | "text">;

/** What a summary is made with beside the turns. */
export interface SummaryOptions {
  /** Of the whole section. */
  readonly budgetTokens: number;
  /** What must be in it beside the person's own words. */
  readonly kept: readonly KeptNote[];
  /** Session that the summary is for; its turns are named by their numbers alone. */
  readonly sessionId: string;
  /** Other sessions as people know them, e.g. `session 2`. */
  readonly nameOf: (sessionId: string) => string;
}

/** The summary of what `older` covers and of the turns behind it, oldest first, in quotations alone. Never above the budget. */
export function quotingSummary(
  older: Omit<SummaryText, "text"> | undefined,
  turns: readonly TurnRecord[],
  options: SummaryOptions,
): SummaryText {
  const { budgetTokens, kept } = options;
  const earlier = (older?.notes ?? []).filter(({ from }) => from !== "saver");
  const saved = kept.map((note): Note => ({ ...note, tier: 1, marks: [note.text], from: "saver" }));
  const all = [...earlier, ...notesOf(turns), ...saved];
  const room = budgetTokens - sectionTokens({ text: leftOutLine(999_999) });
  const notes = chooseNotes(all, Math.max(0, room));
  const wanted = ({ tier }: Note): boolean => tier < REST;
  const leftOut = (older?.leftOut ?? 0) + all.filter(wanted).length - notes.filter(wanted).length;
  return { notes, leftOut, text: joined([linesOf(notes, options), leftOutLine(leftOut)], "\n") };
}

/**
 * A model's summary with a line of quotations of what it lacks; `undefined` where it is empty or that comes to more than the
 * budget: the quotations alone are the better summary then.
 */
export function checkedSummary(
  raw: string,
  quoting: SummaryText,
  options: SummaryOptions,
): SummaryText | undefined {
  const text = raw.trim().toWellFormed();
  if (text === "") return undefined;
  const holds = holdsIn(text);
  const missing = quoting.notes.filter(({ marks, tier }) => tier < REST && !marks.every(holds));
  const quoted = missing.length === 0 ? "" : `${QUOTED}${linesOf(missing, options).replaceAll("\n", "; ")}`;
  const whole = joined([text, quoted, leftOutLine(quoting.leftOut)], "\n");
  return sectionTokens({ text: whole }) > options.budgetTokens ? undefined : { ...quoting, text: whole };
}

/** What comes before the quotations of what a model's summary lacks. */
const QUOTED = "In so many words: ";

/** The words of a model's summary alone; `""` of one that is all quotations. */
export function wordsOfModel({ by, text, leftOut }: Summary): string {
  const isOurs = (line: string): boolean => line.startsWith(QUOTED) || line === leftOutLine(leftOut);
  return by === "built-in"
    ? ""
    : text
        .split("\n")
        .filter((line) => !isOurs(line))
        .join("\n");
}

const keyOf = ({ sessionId, turn }: Pick<Note, "sessionId" | "turn">): string => `${sessionId}/${turn}`;

const leftOutLine = (count: number): string =>
  count === 0 ? "" : `(${count} older quotations have no room here; recall finds them)`;

/** Longest quotation, and longest beginning of what was said, in UTF-16 code units. */
const MAX_QUOTE = 120;
const MAX_GIST = 90;

/** What may be said of turns: quotations around what must not be lost, and how each began and was answered. */
function notesOf(turns: readonly TurnRecord[]): Note[] {
  const chats = turns.filter(({ kind }) => kind === "chat");
  const said = chats.map((turn) =>
    turn.messages.flatMap((message) => (message.role === "user" ? [spokenText(message)] : [])).join("\n"),
  );
  const identifiers = identifiersIn(said);
  return chats.flatMap((turn, index) => {
    const text = said[index] ?? "";
    const of = { sessionId: turn.sessionId, turn: turn.turn };
    const quotes = quotesIn(text, identifiers[index] ?? []).map((quote) => ({ ...of, ...quote }));
    const began = quotes.length === 0 ? gistOf(text) : "";
    const answered = gistOf(answerOf(turn));
    return [
      ...quotes,
      ...(began === "" ? [] : [{ ...of, tier: REST, text: began, marks: [] }]),
      ...(answered === ""
        ? []
        : [{ ...of, tier: REST, text: answered, marks: [], from: "assistant" as const }]),
    ];
  });
}

/** Quotations that hold all of the identifiers: whole sentences where they are short, else what stands around. */
function quotesIn(text: string, identifiers: readonly Identifier[]): Pick<Note, "text" | "marks" | "tier">[] {
  const quotes: { start: number; end: number; tier: Note["tier"]; marks: string[] }[] = [];
  for (const { start, text: mark, tier } of identifiers) {
    const last = quotes.at(-1);
    if (last === undefined || start >= last.end) {
      const span = spanAround(text, start, mark.length);
      quotes.push({ ...span, start: Math.max(span.start, last?.end ?? 0), tier, marks: [mark] });
      continue;
    }
    last.end = Math.max(last.end, start + mark.length);
    if (tier < last.tier) last.tier = tier;
    last.marks.push(mark);
  }
  return quotes.map(({ start, end, tier, marks }) => ({
    tier,
    text: onOneLine(text.slice(start, end)),
    marks: [...new Set(marks.filter((mark) => mark !== ""))],
  }));
}

const BREAK = /[.!?…。！？]["”»)\]]*(?=\s)|[。！？]|\n/gu;

/** The sentence, or of a long one so much of it around the place as a quotation may have, cut at blanks where there are any. */
function spanAround(text: string, at: number, length: number): { start: number; end: number } {
  const breaks = [...text.matchAll(BREAK)].map((match) => match.index + match[0].length);
  const from = breaks.findLast((end) => end <= at) ?? 0;
  const to = breaks.find((end) => end >= at + length) ?? text.length;
  if (to - from <= MAX_QUOTE) return { start: from, end: to };
  const around = Math.max(0, MAX_QUOTE - length) / 2;
  const start = Math.max(from, Math.floor(at - around));
  const end = Math.min(to, Math.ceil(at + length + around));
  return {
    start: start === from ? from : boundaryAfter(text, start, at),
    end: end === to ? to : boundaryBefore(text, end, at + length),
  };
}

/** The first place from `from` on where a word may begin, at most `last`. */
function boundaryAfter(text: string, from: number, last: number): number {
  const blank = /\s/u.exec(text.slice(from, last));
  return blank === null ? Math.min(last, wholeAt(text, from, 1)) : from + blank.index + 1;
}

function boundaryBefore(text: string, to: number, first: number): number {
  const blank = text.slice(first, to).search(/\s\S*$/u);
  return blank < 0 ? wholeAt(text, to, 1) : first + blank;
}

const onOneLine = (text: string): string => text.replaceAll(/\s+/gu, " ").trim();

function gistOf(text: string): string {
  const line = onOneLine(text);
  if (line.length <= MAX_GIST) return line;
  return `${line.slice(0, boundaryBefore(line, MAX_GIST, MAX_GIST / 2)).toWellFormed()} …`;
}

/** Of the room, what one turn may take before all others had theirs: something pasted must not push out what was said. */
const TURN_SHARE = 0.25;

/** Notes that fit, in the order in which they were said: the more important first, of those the newest. */
function chooseNotes(notes: readonly Note[], budgetTokens: number): Note[] {
  const chosen = new Set<Note>();
  const spent = new Map<string, number>();
  const newestFirst = notes.toReversed();
  let left = budgetTokens;
  const take = (tier: Note["tier"], mostOfTurn: number): void => {
    for (const note of newestFirst) {
      if (note.tier !== tier || chosen.has(note)) continue;
      const ofTurn = spent.get(keyOf(note)) ?? 0;
      const cost = estimateTokens(escapeData(noteText(note))) + 1 + (ofTurn === 0 ? HEAD_TOKENS : 0);
      if (cost > left || ofTurn + cost > mostOfTurn) continue;
      left -= cost;
      chosen.add(note);
      spent.set(keyOf(note), ofTurn + cost);
    }
  };
  for (const tier of [1, 2, 3] as const) {
    take(tier, budgetTokens * TURN_SHARE);
    take(tier, budgetTokens);
  }
  take(REST, budgetTokens);
  return notes.filter((note) => chosen.has(note));
}

/** Room for `session 12, turn 1234: ` before the notes of a turn. */
const HEAD_TOKENS = 7;

function noteText({ from, text }: Note): string {
  if (from === "saver") return text;
  return from === undefined ? `“${text}”` : `answered “${text}”`;
}

/** One line a turn. */
function linesOf(notes: readonly Note[], { nameOf, sessionId }: SummaryOptions): string {
  const lines = new Map<string, string[]>();
  for (const note of notes) {
    const of = note.sessionId === sessionId ? "" : `${nameOf(note.sessionId)}, `;
    const head = `${of}turn ${note.turn}`;
    lines.set(head, [...(lines.get(head) ?? []), noteText(note)]);
  }
  return [...lines].map(([head, texts]) => `${head}: ${texts.join(" ")}`).join("\n");
}
