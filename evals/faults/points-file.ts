/** The committed list of points: which calls each kind of turn makes, and how often. A list that shrinks is a fault. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { FaultPoint } from "./gate.ts";

const FILE = join(import.meta.dirname, "points.json");

const schema = z.record(z.string(), z.record(z.string(), z.int().min(1)));

/** Calls by name, by scenario. */
export type PointCounts = z.infer<typeof schema>;

/** How often each call was made. */
export function countPoints(points: readonly FaultPoint[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { name, side } of points.toSorted((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name))))
    if (side === "before") counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

/** The committed list. */
export function readPointsFile(): PointCounts {
  return schema.parse(JSON.parse(readFileSync(FILE, "utf8")));
}

/** Rewrites the committed list. */
export function writePointsFile(counts: PointCounts): void {
  writeFileSync(FILE, `${JSON.stringify(counts, null, 2)}\n`);
}

/** What is missing in `found` of the committed `wanted`, in words. More than was committed is no fault. */
export function missingPoints(
  wanted: Readonly<Record<string, number>>,
  found: Readonly<Record<string, number>>,
) {
  return Object.entries(wanted).flatMap(([name, count]) => {
    const now = found[name] ?? 0;
    return now >= count ? [] : [`${name}: ${now} points, ${count} in points.json`];
  });
}
