/** The lifecycle job: marks what expired, what is to be archived and what is due for verification. Deletes nothing. */
import { assertOwner } from "../namespaces.ts";
import { haveSameMarks, marksAt } from "../retention/lifecycle.ts";
import type { Desk } from "./desk.ts";
import { putRecord, readAll, reread } from "./rows.ts";
import type { LifecycleReport, Who } from "./types.ts";

/** Marks the records of an owner; see `MemoryBook.applyLifecycle`. A mark is no change of the fact: `updated_at` stays. */
export async function applyLifecycle(desk: Desk, who: Who): Promise<LifecycleReport> {
  assertOwner(who.owner);
  const nowMs = desk.clock.now();
  const report: { [Mark in keyof LifecycleReport]: string[] } = { expired: [], archived: [], due: [] };
  for (const seen of await readAll(desk.store, who.owner)) {
    if (haveSameMarks(seen, marksAt(seen, nowMs))) continue;
    const record = await reread(desk.store, who.owner, seen);
    if (record === undefined) continue;
    const marks = marksAt(record, nowMs);
    await putRecord(desk.store, who.owner, { ...record, ...marks });
    if (marks.expired && !record.expired) report.expired.push(record.id);
    if (marks.archived && !record.archived) report.archived.push(record.id);
    if (marks.verification_due && !record.verification_due) report.due.push(record.id);
  }
  return report;
}
