/**
 * The ledger of a conversation: its tasks and its decisions. The person's commands and the model's tool write it, nobody else;
 * each change stands in the record of its turn, and the ledger is a fold over those. Pure.
 */
import { z } from "zod";

/** Most entries; a further one takes the place of the oldest that is closed. */
export const LEDGER_ENTRIES = 40;

const kindSchema = z.enum(["task", "decision"]);

/** Schema of {@link LedgerEntry}. */
const entrySchema = z.strictObject({
  /** By which it is named, the same for its whole life. */
  number: z.int().min(1),
  kind: kindSchema,
  text: z.string(),
  /** Turn that wrote it. */
  turn: z.int().min(1),
  /** Session of that turn, where it is another one that this one continues. */
  sessionId: z.string().optional(),
  /** The task is done; the decision does not hold any more. */
  closed: z.literal(true).optional(),
});

/** A task or a decision. */
export type LedgerEntry = z.infer<typeof entrySchema>;

/** Schema of {@link Ledger}. */
export const ledgerSchema = z.strictObject({
  /** Highest number that was ever given. */
  highest: z.int(),
  /** In the order in which they were written. */
  entries: z.array(entrySchema),
});

/** Tasks and decisions. */
export type Ledger = z.infer<typeof ledgerSchema>;

/** Changes that say nothing of what was noted: what is left of those of a turn that was erased. */
export const wordlessLedgerChangeSchema = z.discriminatedUnion("op", [
  z.strictObject({ op: z.literal("close"), number: z.int() }),
  /** A note that was erased; its number is given to no other. */
  z.strictObject({ op: z.literal("erased"), number: z.int() }),
]);

/** Schema of {@link LedgerChange}. */
export const ledgerChangeSchema = z.discriminatedUnion("op", [
  z.strictObject({ op: z.literal("note"), number: z.int(), kind: kindSchema, text: z.string() }),
  ...wordlessLedgerChangeSchema.options,
]);

/** A change that a turn makes. */
export type LedgerChange = z.infer<typeof ledgerChangeSchema>;

const EMPTY: Ledger = { highest: 0, entries: [] };

/** The ledger after the changes of a turn. */
export function foldLedger(
  ledger: Ledger = EMPTY,
  changes: readonly LedgerChange[] = [],
  turn: number,
): Ledger {
  return changes.reduce((before, change) => changed(before, change, turn), ledger);
}

function changed({ highest, entries }: Ledger, change: LedgerChange, turn: number): Ledger {
  const { number } = change;
  if (change.op === "close")
    return {
      highest,
      entries: entries.map((entry) => (entry.number === number ? { ...entry, closed: true } : entry)),
    };
  const after = { highest: Math.max(highest, number), entries };
  if (change.op === "erased") return after;
  const { kind, text } = change;
  return { ...after, entries: [...withRoom(entries), { number, kind, text, turn }] };
}

function withRoom(entries: readonly LedgerEntry[]): readonly LedgerEntry[] {
  if (entries.length < LEDGER_ENTRIES) return entries;
  const oldest = entries.find(({ closed }) => closed);
  return entries.filter((entry) => entry !== oldest);
}

/** What noting or closing comes to: a change to make, or why there is none. */
export type LedgerVerdict =
  | { readonly kind: "change"; readonly change: LedgerChange }
  | { readonly kind: "known"; readonly entry: LedgerEntry }
  | { readonly kind: "full" | "missing" };

/** Notes a text. What is open in the same words is not noted twice; a ledger that is full of what is open takes no more. */
export function noteInLedger(
  { highest, entries }: Ledger = EMPTY,
  { kind, text }: Pick<LedgerEntry, "kind" | "text">,
): LedgerVerdict {
  const known = entries.find((entry) => !entry.closed && entry.kind === kind && entry.text === text);
  if (known !== undefined) return { kind: "known", entry: known };
  if (openEntries({ highest, entries }).length >= LEDGER_ENTRIES) return { kind: "full" };
  return { kind: "change", change: { op: "note", number: highest + 1, kind, text } };
}

/** Closes an open entry; of the one kind alone, where it is given. */
export function closeInLedger(
  ledger: Ledger | undefined,
  number: number,
  kind?: LedgerEntry["kind"],
): LedgerVerdict {
  const entry = openEntries(ledger, kind).find((open) => open.number === number);
  return entry === undefined ? { kind: "missing" } : { kind: "change", change: { op: "close", number } };
}

/** What is open: tasks that are not done, decisions that hold. */
export function openEntries(ledger: Ledger = EMPTY, kind?: LedgerEntry["kind"]): LedgerEntry[] {
  return ledger.entries.filter((entry) => !entry.closed && (kind === undefined || entry.kind === kind));
}

/** The ledger with which a session begins that continues others: theirs, oldest first, numbered on. */
export function joinLedgers(
  parts: readonly { readonly sessionId: string; readonly ledger: Ledger }[],
): Ledger {
  return parts.reduce<Ledger>(
    (joined, { sessionId, ledger }) => ({
      highest: joined.highest + ledger.highest,
      entries: [
        ...joined.entries,
        ...ledger.entries.map((entry) => ({ sessionId, ...entry, number: joined.highest + entry.number })),
      ],
    }),
    EMPTY,
  );
}

/** The changes of a turn that was erased. */
export function withoutWords(changes: readonly LedgerChange[]): z.infer<typeof wordlessLedgerChangeSchema>[] {
  return changes.map((change) => (change.op === "note" ? { op: "erased", number: change.number } : change));
}

/** Longest text, in characters. */
const MAX_TEXT = 240;

/** A text as it is noted, on one line; `undefined` when there is none or it is too long. */
export function ledgerText(text: string): string | undefined {
  const line = text.replaceAll(/\s+/gu, " ").trim();
  return line === "" || Array.from(line).length > MAX_TEXT ? undefined : line;
}
