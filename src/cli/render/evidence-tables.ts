/** Shows documents and passages of evidence as tables. */
import { z } from "zod";
import { printableLine } from "../printable.ts";
import type { Screen } from "../screen.ts";
import { table } from "./table.ts";

/** `/memory evidence show`. */
export const sourcesData = z.object({
  sources: z.array(
    z.object({
      short: z.string(),
      title: z.string(),
      file: z.string(),
      pieces: z.number(),
      leftOut: z.record(z.string(), z.number()),
      warned: z.number(),
      ingested: z.string(),
    }),
  ),
});

/** `/memory evidence show <words>`. */
export const evidenceData = z.object({
  evidence: z.array(
    z.object({
      label: z.string(),
      citation: z.object({ text: z.string(), short: z.string(), ingested: z.string() }),
      quote: z.string(),
      warning: z.string().nullable(),
    }),
  ),
});

/** One document a line. */
export function renderSources({ sources }: z.infer<typeof sourcesData>, screen: Screen): string {
  if (sources.length === 0) return "";
  const { paint } = screen;
  const rows = sources.map(({ short, title, file, pieces, leftOut, warned, ingested }) => {
    const left = Object.values(leftOut).reduce((sum, count) => sum + count, 0);
    const notes = [
      String(pieces),
      left === 0 ? "" : paint.yellow(`${left} left out`),
      warned === 0 ? "" : paint.yellow(`${warned} marked`),
    ];
    return [
      paint.cyan(printableLine(short)),
      title === file ? printableLine(title) : `${printableLine(title)}\n${paint.dim(printableLine(file))}`,
      notes.filter((note) => note !== "").join("\n"),
      paint.dim(printableLine(ingested)),
    ];
  });
  return table({ head: ["id", "document", "passages", "since"], rows }, screen);
}

/** One passage a paragraph: its citation, what it is not, and its words. */
export function renderEvidence({ evidence }: z.infer<typeof evidenceData>, screen: Screen): string {
  if (evidence.length === 0) return "";
  const { paint } = screen;
  const rows = evidence.map(({ label, citation, quote, warning }, index) => {
    const warned = warning === null ? "" : `\n${paint.yellow(`marked: ${printableLine(warning)}`)}`;
    return [
      String(index + 1),
      `${paint.cyan(printableLine(citation.text))}\n“${printableLine(quote)}”\n${paint.dim(
        printableLine(`${label}; ${citation.short}, given ${citation.ingested}`),
      )}${warned}`,
    ];
  });
  return table({ rows }, screen);
}
