/** The lifecycle job: marks what expired, what is to be archived and what is due for verification. Deletes nothing. */
import { assertOwner, personalityPrefixes } from "../namespaces.ts";
import type { MemoryRecord } from "../record.ts";
import { haveSameMarks, marksAt } from "../retention/lifecycle.ts";
import { instantOf, type FactDeps } from "./fact-deps.ts";
import { putRecord, readRecords, reread, taskPrefixes } from "./rows.ts";
import { readTombstones } from "./tombstones.ts";
import type { LifecycleReport, Who } from "./types.ts";

/** How the job goes about its work. */
export interface LifecycleOptions {
  /** Awaited between a few records and the next, so that whatever waits gets on meanwhile. */
  readonly pause?: () => Promise<void>;
  /** Most records that are marked; what is left is marked the next time. All of them by default. */
  readonly limit?: number;
}

/** Marks the records of an owner; see `FactStore.applyLifecycle`. A mark is no change of the fact: `updated_at` stays. */
export async function applyLifecycle(
  deps: FactDeps,
  who: Who,
  { pause = async () => undefined, limit = Number.MAX_SAFE_INTEGER }: LifecycleOptions = {},
): Promise<LifecycleReport> {
  assertOwner(who.owner);
  const startedAt = instantOf(deps);
  const report: { [Mark in keyof LifecycleReport]: string[] } = { expired: [], archived: [], due: [] };
  // Read to the end first: a put may move a record to where the next page begins.
  for (const seen of (await readUnmarked(deps, who.owner, pause)).slice(0, limit)) {
    const record = await reread(deps.store, who.owner, seen);
    if (record === undefined || (await wasForgotten(deps, who.owner, { record, startedAt }))) continue;
    const marks = marksAt(record, deps.clock.now());
    await putRecord(deps.store, who.owner, { ...record, ...marks });
    if (marks.expired && !record.expired) report.expired.push(record.id);
    if (marks.archived && !record.archived) report.archived.push(record.id);
    if (marks.verification_due && !record.verification_due) report.due.push(record.id);
    await pause();
  }
  return report;
}

/** Records of an owner whose marks are not what they ought to be by now. */
async function readUnmarked(
  deps: FactDeps,
  owner: string,
  pause: () => Promise<void>,
): Promise<MemoryRecord[]> {
  const nowMs = deps.clock.now();
  const found: MemoryRecord[] = [];
  for (const prefix of [...personalityPrefixes(owner), ...(await taskPrefixes(deps.store, owner))]) {
    const { records } = await readRecords(deps.store, owner, prefix);
    found.push(...records.filter((record) => !haveSameMarks(record, marksAt(record, nowMs))));
    await pause();
  }
  return found;
}

/** Nothing orders the job and a `/forget` beside it: what was forgotten meanwhile must not be put back. */
async function wasForgotten(
  deps: FactDeps,
  owner: string,
  { record, startedAt }: { readonly record: MemoryRecord; readonly startedAt: string },
): Promise<boolean> {
  const stones = await readTombstones(deps, owner);
  return stones.of(record.text).some((stone) => stone.forgotten_at >= startedAt);
}
