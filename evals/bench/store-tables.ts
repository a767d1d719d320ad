/** A benchmark of the store as tables for people. */
import type { StoreResult } from "./store-bench.ts";
import { kilobytesText, msText, ratioText } from "./measure.ts";
import { memoryVerdict, verdictOf } from "./store-targets.ts";
import { newTable } from "./table.ts";

/** All tables of all sizes. */
export function storeTables(results: readonly StoreResult[]): string {
  return [...results.map(sectionOf), NOTES].join("\n\n");
}

const NOTES = [
  "floor: better-sqlite3 with FTS5 that is asked the same, in the same file format, run and rounds; for vectors the exact",
  "scan of all vectors below the namespace; for hybrid search both. Records and vectors are made up.",
].join("\n");

function sectionOf(result: StoreResult): string {
  const table = newTable(["what", "p50", "p95", "floor p50", "floor p95", "to floor", "verdict"]);
  for (const one of result.operations) {
    table.push([
      one.name,
      shortMs(one.p50Ms),
      shortMs(one.p95Ms),
      shortMs(one.floorP50Ms),
      shortMs(one.floorP95Ms),
      ratioText(one.p50Ms, one.floorP50Ms),
      verdictOf(one),
    ]);
  }
  const { records, ftsAlone, fillMsPerItem, fileBytes, floorBytes, memoryBytes } = result;
  const textP50Ms = result.operations.find(({ name }) => name === "text search")?.p50Ms ?? Number.NaN;
  return [
    `Store with ${records} records, other programs used ${result.foreignCores.toFixed(1)} cores`,
    table.toString(),
    `FTS5 alone, over everybody's records and without reading one: p50 ${shortMs(ftsAlone.p50Ms)}, p95 ${shortMs(ftsAlone.p95Ms)}; the store takes ${ratioText(textP50Ms, ftsAlone.p50Ms)} that.`,
    `A vector is written in ${shortMs(fillMsPerItem)}. File ${kilobytesText(fileBytes)}, floor ${kilobytesText(floorBytes)}.`,
    `Memory that searching adds to a process: ${kilobytesText(memoryBytes)}. ${memoryVerdict(result)}`,
  ].join("\n");
}

/** Operations of some microseconds need a digit more. */
function shortMs(ms: number): string {
  return ms < 0.1 ? `${(ms * 1000).toFixed(0)} µs` : msText(ms);
}
