/** The bars of the benchmarks and the tables that show them: a reader's verdict, nothing that fails a run. */
import { readFileSync } from "node:fs";
import Table from "cli-table3";
import { z } from "zod";

const barSchema = z.strictObject({
  id: z.string(),
  what: z.string(),
  unit: z.enum(["times", "bytes", "ms", "files"]),
  atMost: z.number().optional(),
  atLeast: z.number().optional(),
});

type Bar = z.infer<typeof barSchema>;

const barsSchema = z.strictObject({ turn: z.array(barSchema), store: z.array(barSchema) });

/** The bars of `bars.json`. */
export function readBars(): z.infer<typeof barsSchema> {
  return barsSchema.parse(JSON.parse(readFileSync(new URL("bars.json", import.meta.url), "utf8")));
}

/** NaN is within no bar. */
function isMet({ atMost, atLeast }: Bar, value: number): boolean {
  return value <= (atMost ?? Number.POSITIVE_INFINITY) && value >= (atLeast ?? Number.NEGATIVE_INFINITY);
}

/** One row a bar; `values` by the bar's id. */
export function barTable(bars: readonly Bar[], values: Readonly<Record<string, number>>): string {
  return tableOf(
    ["bar", "measured", "limit", "verdict"],
    bars.map((bar) => {
      const value = values[bar.id] ?? Number.NaN;
      const limit = bar.atMost === undefined ? `≥ ${bar.atLeast}` : `≤ ${bar.atMost}`;
      return [bar.what, `${rounded(value)} ${bar.unit}`, limit, isMet(bar, value) ? "met" : "NOT MET"];
    }),
  );
}

/** A compact table whose first column is text and whose others are numbers. */
export function tableOf(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const table = new Table({
    head: [...head],
    colAligns: head.map((_, column) => (column === 0 ? "left" : "right")),
    style: { head: [], border: [], compact: true },
  });
  for (const row of rows) table.push([...row]);
  return table.toString();
}

/** Two decimals below 10, one below 100, none above. */
export function rounded(value: number): string {
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
}
