/** Shows what an erasure would take along, and its receipt, as tables. */
import { z } from "zod";
import { receiptSchema } from "#src/erasure/receipt.ts";
import { printableLine } from "../printable.ts";
import type { Screen } from "../screen.ts";
import { table } from "./table.ts";
import { wrapWords } from "./word-wrap.ts";

/** Shape of the data of a receipt. */
export const receiptData = z.object({ receipt: receiptSchema });

const shownTurn = z.object({
  sessionKey: z.string(),
  session: z.number().nullable(),
  turn: z.number(),
  at: z.string(),
  said: z.string(),
});

/** Shape of the data of a preview, as far as it is shown; of a person there are no turns in it. */
export const erasurePreviewData = z.object({
  turns: z.array(shownTurn).default([]),
  stays: z.array(shownTurn).default([]),
  records: z.array(z.object({ short: z.string(), text: z.string() })).default([]),
  counts: z.array(z.object({ place: z.string(), count: z.number() })),
});

/** More would not be read. */
const MOST_TURNS = 30;

type Outcome = z.infer<typeof receiptSchema>["lines"][number]["outcome"];

const OUTCOMES = {
  erased: "erased",
  kept: "kept",
  not_supported: "not reached",
  unfinished: "not finished",
} as const satisfies Record<Exclude<Outcome, "nothing_found">, string>;

/** One place a line; those in which nothing was found share one. */
export function renderReceipt({ receipt }: z.infer<typeof receiptData>, screen: Screen): string {
  const { paint } = screen;
  const found = receipt.lines.filter((line) => line.outcome !== "nothing_found");
  const rows = found.map((line) => {
    const { outcome } = line;
    const word = OUTCOMES[outcome];
    const shown = "count" in line ? `${word} (${line.count})` : word;
    const about = "why" in line ? line.why : "note" in line ? (line.note ?? "") : "";
    return [
      line.place,
      outcome === "unfinished"
        ? paint.yellow(shown)
        : outcome === "erased"
          ? paint.green(shown)
          : paint.dim(shown),
      printableLine(about),
    ];
  });
  const shown = table({ head: ["place", "became", ""], rows }, screen);
  const empty = receipt.lines.filter(({ outcome }) => outcome === "nothing_found").map(({ place }) => place);
  if (empty.length === 0) return shown;
  const sentence = wrapWords(`Nothing of it was in: ${empty.join(", ")}.`, screen.columns);
  return `${shown}\n${paint.dim(sentence)}`;
}

/** Turns under a heading; empty when there are none. */
function renderTurns(heading: string, turns: readonly z.infer<typeof shownTurn>[], screen: Screen): string {
  if (turns.length === 0) return "";
  const rows = turns
    .slice(0, MOST_TURNS)
    .map(({ sessionKey, session, turn, at, said }) => [
      printableLine(at),
      printableLine(`${sessionKey}, session ${session ?? "?"}, turn ${turn}`),
      printableLine(said),
    ]);
  const shown = table({ head: [heading, "of", "says"], rows }, screen);
  const more = turns.length - MOST_TURNS;
  return more > 0 ? `${shown}\n${screen.paint.dim(`and ${more} more turns`)}` : shown;
}

/** The facts and turns that would go, and turns that have a part of it and stay; of a person, the count of each place. */
export function renderErasurePreview(data: z.infer<typeof erasurePreviewData>, screen: Screen): string {
  const { turns, stays, records, counts } = data;
  const { paint } = screen;
  const facts = records.map(({ short, text }) => [paint.cyan(printableLine(short)), printableLine(text)]);
  const parts = [
    facts.length === 0 ? "" : table({ head: ["fact", ""], rows: facts }, screen),
    renderTurns("turn", turns, screen),
    renderTurns("stays", stays, screen),
    // What is told of a text has the counts already.
    counts.length === 0 || facts.length + turns.length > 0
      ? ""
      : table(
          {
            head: ["place", "count"],
            rows: counts.map(({ place, count }) => [printableLine(place), String(count)]),
          },
          screen,
        ),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}
