/** The receipt of an erasure: what became of it in each place. It names no word, and nothing that is made of one. */
import { z } from "zod";

/** Every place that a receipt names, in the order in which it is shown. */
export const PLACES = [
  "tombstone",
  "memory",
  "search index",
  "vectors",
  "transcripts",
  "stored replies",
  "command text",
  "knowledge units",
  "summaries",
  "explanations",
  "failed turns",
  "titles",
  "evidence",
  "checkpoints",
  "blobs",
  "deliveries",
  "stop requests",
  "locks",
  "session index",
  "input history",
  "pending jobs",
  "said in part",
  "database files",
  "API keys",
  "exported files",
  "other programs",
  "backups",
  "model provider",
  "database log",
  "LangGraph server",
] as const;

const placeSchema = z.enum(PLACES);

/** A place. */
export type PlaceName = z.infer<typeof placeSchema>;

/** Schema of {@link ReceiptLine}. */
export const receiptLineSchema = z.discriminatedUnion("outcome", [
  z.strictObject({
    place: placeSchema,
    outcome: z.literal("erased"),
    count: z.int().min(1),
    note: z.string().optional(),
  }),
  z.strictObject({ place: placeSchema, outcome: z.literal("nothing_found") }),
  z.strictObject({ place: placeSchema, outcome: z.literal("kept"), why: z.string() }),
  z.strictObject({ place: placeSchema, outcome: z.literal("not_supported"), why: z.string() }),
  /** What the next erasure of the same does. */
  z.strictObject({ place: placeSchema, outcome: z.literal("unfinished"), why: z.string() }),
]);

/** What became of it in one place. */
export type ReceiptLine = z.infer<typeof receiptLineSchema>;

/** Schema of {@link Receipt}. */
export const receiptSchema = z.strictObject({
  v: z.literal(1),
  /** A text of a person, or all of a person. */
  what: z.enum(["text", "person"]),
  at: z.string(),
  /** Nothing is left to do. */
  finished: z.boolean(),
  lines: z.array(receiptLineSchema),
});

/** A receipt. */
export type Receipt = z.infer<typeof receiptSchema>;

/** The receipt with its lines in the order of {@link PLACES}. */
export function makeReceipt(facts: Pick<Receipt, "what" | "at" | "lines">): Receipt {
  const lines = facts.lines.toSorted((a, b) => PLACES.indexOf(a.place) - PLACES.indexOf(b.place));
  return receiptSchema.parse({
    v: 1,
    ...facts,
    finished: lines.every(({ outcome }) => outcome !== "unfinished"),
    lines,
  });
}

/** So many were erased, or none were there. */
export function erased(place: PlaceName, count: number, note?: string): ReceiptLine {
  if (count === 0) return { place, outcome: "nothing_found" };
  return { place, outcome: "erased", count, ...(note === undefined ? {} : { note }) };
}

/** A line that says why. */
export function line(
  place: PlaceName,
  outcome: "kept" | "not_supported" | "unfinished",
  why: string,
): ReceiptLine {
  return { place, outcome, why };
}
