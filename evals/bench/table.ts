/** How the benchmarks draw tables. */
import Table from "cli-table3";

/** Columns that hold words; the others hold numbers. */
const WORDS: ReadonlySet<string> = new Set(["what", "who", "kind", "verdict"]);

/** A table without colours, words to the left and numbers to the right. */
export function newTable(head: readonly string[]): Table.Table {
  return new Table({
    head: [...head],
    colAligns: head.map((name) => (WORDS.has(name) ? "left" : "right")),
    style: { head: [], border: [], compact: true },
  });
}
