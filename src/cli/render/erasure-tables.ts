/** Shows what an erasure would take along, and its receipt, as tables. */
import { z } from "zod";
import { receiptSchema } from "#src/erasure/receipt.ts";
import { printableLine } from "../printable.ts";
import type { Screen } from "../screen.ts";
import { table } from "./table.ts";

/** Shape of the data of a receipt. */
export const receiptData = z.object({ receipt: receiptSchema });

/** Shape of the data of a preview, as far as it is shown; of a person there are no turns in it. */
export const erasurePreviewData = z.object({
  turns: z
    .array(
      z.object({
        sessionKey: z.string(),
        session: z.number().nullable(),
        turn: z.number(),
        at: z.string(),
        said: z.string(),
      }),
    )
    .default([]),
  records: z.array(z.object({ short: z.string(), text: z.string() })).default([]),
  counts: z.array(z.object({ place: z.string(), count: z.number() })),
});

/** More would not be read. */
const MOST_TURNS = 30;

const OUTCOMES = {
  erased: "erased",
  nothing_found: "nothing there",
  kept: "kept",
  not_supported: "not reached",
  unfinished: "not finished",
} as const;

/** One place a line. */
export function renderReceipt({ receipt }: z.infer<typeof receiptData>, screen: Screen): string {
  const { paint } = screen;
  const rows = receipt.lines.map((line) => {
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
  return table({ head: ["place", "became", ""], rows }, screen);
}

/** The facts and turns that would go, then the count of each place. */
export function renderErasurePreview(data: z.infer<typeof erasurePreviewData>, screen: Screen): string {
  const { turns, records, counts } = data;
  const { paint } = screen;
  const facts = records.map(({ short, text }) => [paint.cyan(printableLine(short)), printableLine(text)]);
  const shown = turns
    .slice(0, MOST_TURNS)
    .map(({ sessionKey, session, turn, at, said }) => [
      printableLine(at),
      printableLine(`${sessionKey}, session ${session ?? "?"}, turn ${turn}`),
      printableLine(said),
    ]);
  const more = turns.length > MOST_TURNS ? `and ${turns.length - MOST_TURNS} more turns` : "";
  const parts = [
    facts.length === 0 ? "" : table({ head: ["fact", ""], rows: facts }, screen),
    shown.length === 0 ? "" : table({ head: ["turn", "of", "says"], rows: shown }, screen),
    more === "" ? "" : paint.dim(more),
    counts.length === 0
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
