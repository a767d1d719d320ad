/** What resuming a conversation takes a fresh process, as a table. */
import type { CaseResult } from "./bench-result.ts";
import type { FreshTimes } from "./fresh-times.ts";
import { kilobytesText, msText } from "./measure.ts";
import { newTable } from "./table.ts";

/** The table with its title; `""` without measurements. */
export function freshTable(cases: readonly CaseResult[]): string {
  const resumed = cases.flatMap(({ fresh, ...one }) => (fresh === undefined ? [] : [{ ...one, fresh }]));
  if (resumed.length === 0) return "";
  const table = newTable([
    "turns",
    "who",
    "start and imports",
    "open",
    "read",
    "first answer",
    "live heap",
    "resident",
  ]);
  const withBare = new Set<string>();
  for (const { subject, turns, fresh, bare } of resumed) {
    if (bare !== undefined && !withBare.has(subject)) {
      withBare.add(subject);
      table.push(["", `${subject}, imports alone`, msText(bare.importedMs), "", "", "", ...memoryOf(bare)]);
    }
    const { importedMs, openMs, readMs, answerMs } = fresh;
    const spans = [importedMs, openMs, readMs, answerMs].map(msText);
    table.push([turns === 0 ? "" : String(turns), subject, ...spans, ...memoryOf(fresh)]);
  }
  return `A conversation resumed by a fresh process, no tools\n${table.toString()}`;
}

const memoryOf = ({ heapBytes, rssBytes }: FreshTimes): string[] => [
  kilobytesText(heapBytes),
  kilobytesText(rssBytes),
];
