/** How long facts are expected to hold, the marks that follow from it, and the job that makes them. It deletes nothing. */
import { setImmediate as nextTick } from "node:timers/promises";
import { fromInstant } from "#src/kernel/clock.ts";
import { assertOwner } from "../namespaces.ts";
import type { Domain, MemoryRecord, Stability } from "../record.ts";
import { isExpired } from "./read.ts";
import { type FactDeps, instantOf, putRecords, readAll, reread } from "./rows.ts";
import { readTombstones } from "./tombstones.ts";
import type { Who } from "./types.ts";

const DAY_MS = 86_400_000;

/** One row of section 6.1 of the memory specification: null where the specification sets nothing. */
interface Retention {
  readonly stability: Stability;
  /** Whether a fact may carry an expiry. */
  readonly expiry: "none" | "optional";
  /** A fact that was not confirmed for this long is due for verification. */
  readonly verifyAfterMs: number | null;
  /** A fact that expired this long ago is marked as archived. */
  readonly archiveAfterExpiryMs: number | null;
}

/**
 * The defaults. Persona and rules are verified only when the owner changes them; "scheduled review" of rules is once a year, so that
 * a person is not asked often; a profile half a year after its last confirmation; a task by its own milestones, which
 * are expiry and archive marks.
 */
export const RETENTION: Readonly<Record<Domain, Retention>> = {
  persona_core: { stability: "high", expiry: "none", verifyAfterMs: null, archiveAfterExpiryMs: null },
  working_rules: {
    stability: "high",
    expiry: "none",
    verifyAfterMs: 365 * DAY_MS,
    archiveAfterExpiryMs: null,
  },
  user_profile: {
    stability: "medium_high",
    expiry: "optional",
    verifyAfterMs: 180 * DAY_MS,
    archiveAfterExpiryMs: null,
  },
  task_memory: {
    stability: "medium",
    expiry: "optional",
    verifyAfterMs: null,
    archiveAfterExpiryMs: 30 * DAY_MS,
  },
};

/** The marks of a record. */
type Marks = Pick<MemoryRecord, "expired" | "archived" | "verification_due">;

/** The marks that `record` ought to have at `nowMs`. Archiving is one-way here: only a person takes it back. */
export function marksAt(record: MemoryRecord, nowMs: number): Marks {
  const { verifyAfterMs, archiveAfterExpiryMs } = RETENTION[record.domain];
  const expired = isExpired(record, nowMs);
  const sinceExpiry = record.expires_at === null ? 0 : nowMs - fromInstant(record.expires_at);
  const archived =
    record.archived || (expired && archiveAfterExpiryMs !== null && sinceExpiry >= archiveAfterExpiryMs);
  const confirmedAt = fromInstant(record.last_verified ?? record.created_at);
  const isDue = verifyAfterMs !== null && nowMs - confirmedAt >= verifyAfterMs;
  const isRead = !expired && !archived && record.superseded_by === null;
  return { expired, archived, verification_due: isDue && isRead };
}

/** About a second's writes, for which the end of a program may have to wait. Reading does not depend on marks. */
const MARKS_AT_ONCE = 200;

/**
 * Marks what expired, is to be archived, or is due for verification; at most {@link MARKS_AT_ONCE} records, which are given as
 * they are then. Turns that wait for their own reads and writes go first. A mark is no change of the fact: `updated_at` stays.
 */
export async function applyLifecycle(deps: FactDeps, { owner }: Who): Promise<MemoryRecord[]> {
  assertOwner(owner);
  const { store } = deps;
  const startedAt = instantOf(deps);
  const nowMs = fromInstant(startedAt);
  const { records } = await readAll(store, owner);
  const unmarked = records.filter((record) => newMarks(record, nowMs) !== undefined);
  const marked: MemoryRecord[] = [];
  for (const seen of unmarked.slice(0, MARKS_AT_ONCE)) {
    await nextTick();
    const record = await reread(store, owner, seen);
    const marks = record && newMarks(record, nowMs);
    if (record === undefined || marks === undefined) continue;
    // Nothing orders the job and a `/forget` beside it: what was forgotten meanwhile must not be put back.
    const stones = (await readTombstones(deps, owner)).of(record.text);
    if (stones.some(({ forgotten_at }) => forgotten_at >= startedAt)) continue;
    marked.push({ ...record, ...marks });
    await putRecords(store, owner, marked.slice(-1));
  }
  return marked;
}

/** The marks that `record` ought to have, if it has others. */
function newMarks(record: MemoryRecord, nowMs: number): Marks | undefined {
  const marks = marksAt(record, nowMs);
  const isSame =
    marks.expired === record.expired &&
    marks.archived === record.archived &&
    marks.verification_due === record.verification_due;
  return isSame ? undefined : marks;
}
