/** The receipt of an erasure: what became of it in each place. It names no word, and nothing that is made of one. */
import { z } from "zod";
import { done, refused, type Envelope } from "#src/kernel/envelope.ts";
import { joined, markdownTable } from "#src/kernel/markdown.ts";
import type { StorageBackend } from "#src/storage/backend.ts";
import type { ErasureDeps } from "./place.ts";

export const receiptLineSchema = z.discriminatedUnion("outcome", [
  z.strictObject({
    place: z.string(),
    outcome: z.literal("erased"),
    count: z.int().min(1),
    note: z.string().optional(),
  }),
  z.strictObject({ place: z.string(), outcome: z.literal("nothing_found") }),
  /** `unfinished`: what the next erasure of the same does. */
  z.strictObject({
    place: z.string(),
    outcome: z.enum(["kept", "not_supported", "unfinished"]),
    why: z.string(),
  }),
]);

/** What became of it in one place. */
export type ReceiptLine = z.infer<typeof receiptLineSchema>;

export const receiptSchema = z.strictObject({
  v: z.literal(1),
  /** A text of a person, one conversation with everything in it, or all of a person. */
  what: z.enum(["text", "key", "person"]),
  at: z.string(),
  /** Nothing is left to do. */
  finished: z.boolean(),
  lines: z.array(receiptLineSchema),
});

export type Receipt = z.infer<typeof receiptSchema>;

/** The receipt with those lines. */
export function makeReceipt(facts: Pick<Receipt, "what" | "at" | "lines">): Receipt {
  const finished = facts.lines.every(({ outcome }) => outcome !== "unfinished");
  return receiptSchema.parse({ v: 1, ...facts, finished });
}

/** So many were erased, or none were there. */
export function erased(place: string, count: number, note?: string): ReceiptLine {
  if (count === 0) return { place, outcome: "nothing_found" };
  return { place, outcome: "erased", count, ...(note === undefined ? {} : { note }) };
}

/** A line that says why. */
export function line(
  place: string,
  outcome: "kept" | "not_supported" | "unfinished",
  why: string,
): ReceiptLine {
  return { place, outcome, why };
}

/** Writes the database files anew, and tells of it. */
export async function scrubLine({ erasure }: Pick<StorageBackend, "erasure">): Promise<ReceiptLine> {
  if (erasure === undefined) return line("database files", "kept", "there are none");
  const report = await erasure.scrub();
  if (report.outcome === "done") return erased("database files", report.files, "written anew");
  const next = report.outcome === "unfinished" ? "; erase the same again when it is closed" : "";
  return line("database files", report.outcome, `${report.why}${next}`);
}

const LANGGRAPH_SERVER = "LangGraph server";

/** Places that are not reached, each with what to do there. */
export function outsideLines({ storage, servesLangGraph }: ErasureDeps): ReceiptLine[] {
  const log = storage.erasure?.logKeeps;
  const outside: readonly (readonly [place: string, why: string])[] = [
    [
      "exported files",
      "what /memory export wrote is in exports of the home folder, or where you put it; delete it",
    ],
    [
      "other programs",
      "a terminal or server that runs beside this one may hold it in its memory until it ends",
    ],
    [
      "backups",
      "delete what lily backup and lily doctor --repair made and what lily restore set aside (*.before-restore-*), and copies elsewhere",
    ],
    ["model provider", "what a model was sent is with its provider; ask there"],
    ...(log === undefined ? [] : [["database log", log] as const]),
    [
      LANGGRAPH_SERVER,
      servesLangGraph === true
        ? "what its runs streamed is in its memory until it is started anew; LangGraph Platform's database has a log of its own"
        : "none is used here; one that served the same people has its own data: lily erase --server erases there",
    ],
  ];
  return outside.map(([place, why]) => line(place, "not_supported", why));
}

/** The marks of a person go with everything else. */
const COMES_BACK: Readonly<Record<Receipt["what"], string>> = {
  text: "It does not come back by an import or by the model.",
  key: "What was remembered of it stays; /forget erases that.",
  person: "Nothing keeps an import from bringing it back.",
};

/** The receipt as the envelope that a person and a program are told; what was erased is counted, never named. */
export function receiptEnvelope(receipt: Receipt): Envelope {
  const { lines, what: kind, finished } = receipt;
  const data = { receipt };
  const gone = lines.flatMap((one) =>
    one.outcome === "erased" && one.place !== "database files" ? [`${one.place} (${one.count})`] : [],
  );
  const what = gone.length === 0 ? "Nothing was found that had to be erased" : `Erased: ${gone.join(", ")}`;
  if (finished) {
    const part = lines.find(({ place }) => place === "said in part");
    const stays = part?.outcome === "kept" ? ` Kept: ${part.why}.` : "";
    return done("erased", `${what}. The receipt says what became of it in each place.`, {
      next: `${COMES_BACK[kind]} Backups and what a model was sent are not reached.${stays}`,
      data,
      body: linesText(lines),
    });
  }
  return refused("erasure_unfinished", `${what}. Not finished: ${unfinishedText(lines)}`, {
    next: nextOf(receipt),
    data,
    body: linesText(lines),
  });
}

const OUTCOMES = {
  erased: "erased",
  kept: "kept",
  not_supported: "not reached",
  unfinished: "not finished",
} as const;

/** One place a line; those in which nothing was found share a sentence. */
function linesText(lines: readonly ReceiptLine[]): string {
  const rows = lines.flatMap((one) => {
    if (one.outcome === "nothing_found") return [];
    const word = OUTCOMES[one.outcome];
    return one.outcome === "erased"
      ? [[one.place, `${word} (${one.count})`, one.note ?? ""]]
      : [[one.place, word, one.why]];
  });
  const empty = lines.filter(({ outcome }) => outcome === "nothing_found").map(({ place }) => place);
  const rest = empty.length === 0 ? "" : `Nothing of it was in: ${empty.join(", ")}.`;
  return joined([markdownTable(["place", "became", ""], rows), rest], "\n\n");
}

/** Places that wait for the same are told together. */
function unfinishedText(lines: readonly ReceiptLine[]): string {
  const places = new Map<string, string[]>();
  for (const one of lines)
    if (one.outcome === "unfinished") places.set(one.why, [...(places.get(one.why) ?? []), one.place]);
  return [...places].map(([why, names]) => `${names.join(", ")}: ${why}`).join("; ");
}

/** An id leads nowhere once its fact is gone, and only the files are left. */
function nextOf({ lines, what }: Receipt): string {
  const hasFact = lines.some(({ place, outcome }) => place === "memory" && outcome === "unfinished");
  return what !== "text" || hasFact
    ? "Erase the same again: it goes on where it was."
    : "Erase the same again by its words; the id of a fact that is gone leads nowhere.";
}
