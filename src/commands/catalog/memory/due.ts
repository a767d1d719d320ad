/** Which facts have waited long for a word of their owner, whether the lifecycle job has marked them yet or not. */
import type { MemoryRecord } from "#memory/record.ts";
import { marksAt } from "#memory/retention/lifecycle.ts";
import { RETENTION } from "#memory/retention/retention-defaults.ts";

const DAY_MS = 86_400_000;

/** Whether a fact is to be confirmed at `nowMs`. */
export function isDue(record: MemoryRecord, nowMs: number): boolean {
  return marksAt(record, nowMs).verification_due;
}

/** `2 of these were last confirmed over 180 days ago: /memory verify <id> confirms one.`; `""` when none is due. */
export function dueText(records: readonly MemoryRecord[], nowMs: number): string {
  const counts = new Map<number, number>();
  for (const record of records.filter((one) => isDue(one, nowMs))) {
    const days = (RETENTION[record.domain].verifyAfterMs ?? 0) / DAY_MS;
    counts.set(days, (counts.get(days) ?? 0) + 1);
  }
  if (counts.size === 0) return "";
  const parts = [...counts]
    .sort(([a], [b]) => a - b)
    .map(
      ([days, count]) =>
        `${count} of these ${count === 1 ? "was" : "were"} last confirmed over ${days} days ago`,
    )
    .join(", ");
  return `${parts}: /memory verify <id> confirms one.`;
}
