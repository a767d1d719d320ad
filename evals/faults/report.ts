/** Results as a person reads them: a table of the parts, then each violation with how to see it again. */
import chalk from "chalk";
import Table from "cli-table3";
import type { PartResult, Violation } from "./violation.ts";

/** Violations that are told in full. */
const SHOWN = 20;

/** The table of all parts. */
export function resultTable(results: readonly PartResult[]): string {
  const table = new Table({
    head: ["fault", "during", "cases", "violations", "time", ""],
    colAligns: ["left", "left", "right", "right", "right", "left"],
    style: { head: [], border: [], compact: true },
  });
  for (const { part, subject, cases, violations, seconds, note = "" } of results) {
    const count = violations.length === 0 ? chalk.green("0") : chalk.red(String(violations.length));
    table.push([part, subject, cases, count, `${seconds.toFixed(1)} s`, note]);
  }
  return table.toString();
}

/** The violations: the case, what does not hold, and the command that repeats it alone. */
export function violationText(violations: readonly Violation[]): string {
  const shown = violations.slice(0, SHOWN).map(({ subject, fault, problems, again }) => {
    return [
      `${chalk.red(subject)}: ${fault}`,
      ...problems.map((problem) => `  - ${problem}`),
      `  ${again}`,
    ].join("\n");
  });
  const more = violations.length - shown.length;
  return [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join("\n");
}
