/** Results as a person reads them: a table a suite, and one line for all. */
import chalk from "chalk";
import Table from "cli-table3";
import type { CaseResult, SuiteResult } from "./run-suite.ts";

const WORDS: Readonly<Record<CaseResult["result"], string>> = {
  passed: chalk.green("passed"),
  failed: chalk.red("failed"),
  skipped: chalk.yellow("skipped"),
};

/** Columns of result and time, with their padding. */
const RESULT_COLUMNS = 9;
const TIME_COLUMNS = 10;

/** No column of running text gets narrower than this; a narrow terminal wraps lines instead. */
const MIN_TEXT_COLUMNS = 24;

/** The table of a suite, drawn for a terminal of `columns` characters. */
export function suiteTable(suite: SuiteResult, columns = 160): string {
  const table = new Table({
    head: ["case", "what", "result", "time", "detail"],
    colWidths: columnWidths(suite, columns),
    wordWrap: true,
    style: { head: [], border: [], compact: true },
  });
  for (const result of suite.cases) table.push(rowOf(result));
  return `${suite.title} (${suite.name})\n${table.toString()}`;
}

/** Ids stand whole; what and detail share the rest. */
function columnWidths(suite: SuiteResult, columns: number): number[] {
  const id = Math.max(4, ...suite.cases.map((result) => result.id.length)) + 2;
  const borders = 6;
  const free = columns - borders - id - RESULT_COLUMNS - TIME_COLUMNS;
  const what = Math.max(MIN_TEXT_COLUMNS, Math.ceil(free * 0.55));
  return [id, what, RESULT_COLUMNS, TIME_COLUMNS, Math.max(MIN_TEXT_COLUMNS, free - what)];
}

function rowOf({ id, title, result, ms, detail }: CaseResult): string[] {
  return [id, title, WORDS[result], `${Math.round(ms)} ms`, detail];
}

/** `N passed, N failed`, and how many were skipped. */
export function summaryLine(suites: readonly SuiteResult[]): string {
  const { passed, failed, skipped } = countResults(suites);
  return `${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`;
}

/** How many cases ended in which way. */
export function countResults(suites: readonly SuiteResult[]): Record<CaseResult["result"], number> {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const { result } of suites.flatMap((suite) => suite.cases)) counts[result] += 1;
  return counts;
}
