/** Results as a person reads them: a table a suite, and one line for all. */
import chalk from "chalk";
import Table from "cli-table3";
import type { CaseResult, SuiteResult } from "./run-suite.ts";

const WORDS: Readonly<Record<CaseResult["result"], string>> = {
  passed: chalk.green("passed"),
  failed: chalk.red("failed"),
  skipped: chalk.yellow("skipped"),
  planned: chalk.dim("not yet"),
};

/** Narrower than this, the table is drawn this wide all the same. */
const MIN_COLUMNS = 100;

/** Columns that ids, results, times and lines take. */
const FIXED_COLUMNS = 74;

/** The table of a suite, at most `columns` characters wide. */
export function suiteTable(suite: SuiteResult, columns = 160): string {
  const free = Math.max(columns, MIN_COLUMNS) - FIXED_COLUMNS;
  const what = Math.ceil(free * 0.55);
  const table = new Table({
    head: ["case", "what", "result", "time", "detail"],
    colWidths: [46, what, 9, 9, free - what],
    wordWrap: true,
    style: { head: [], border: [] },
  });
  for (const result of suite.cases) table.push(rowOf(result));
  return `${suite.title} (${suite.name})\n${table.toString()}`;
}

function rowOf({ id, title, result, ms, detail }: CaseResult): string[] {
  return [id, title, WORDS[result], ms === 0 ? "" : `${Math.round(ms)} ms`, detail];
}

/** `N passed, N failed`, and what was skipped or is not there yet. */
export function summaryLine(suites: readonly SuiteResult[]): string {
  const counts = countResults(suites);
  const others = [
    counts.skipped === 0 ? [] : [`${counts.skipped} skipped`],
    counts.planned === 0 ? [] : [`${counts.planned} not yet`],
  ].flat();
  return [`${counts.passed} passed, ${counts.failed} failed`, ...others].join(", ");
}

/** How many cases ended in which way. */
export function countResults(suites: readonly SuiteResult[]): Record<CaseResult["result"], number> {
  const counts = { passed: 0, failed: 0, skipped: 0, planned: 0 };
  for (const { result } of suites.flatMap((suite) => suite.cases)) counts[result] += 1;
  return counts;
}
