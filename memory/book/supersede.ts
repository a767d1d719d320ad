/** The links between a record and what it replaced. */
import { recordNamespace } from "../namespaces.ts";
import type { MemoryRecord } from "../record.ts";
import { instantOf, type Desk } from "./desk.ts";
import { putRecord, readRecord, reread } from "./rows.ts";

/** A record that was written, and what it replaces as it was read for that. */
interface Replacement {
  readonly by: MemoryRecord;
  readonly replaced: readonly MemoryRecord[];
}

/**
 * Marks `replaced` as superseded by `by`. One that another process has changed since it was read stays as it is, and so
 * does all when `by` was itself replaced meanwhile: two that replace each other at once must not both vanish.
 *
 * @returns the records that were marked, as they are now
 */
export async function markSuperseded(
  desk: Desk,
  owner: string,
  { by, replaced }: Replacement,
): Promise<MemoryRecord[]> {
  const marked: MemoryRecord[] = [];
  for (const known of replaced) {
    const [self, current] = await Promise.all([
      reread(desk.store, owner, by),
      reread(desk.store, owner, known),
    ]);
    if (self === undefined || self.superseded_by !== null) break;
    if (current === undefined || current.updated_at !== known.updated_at) continue;
    const supersedes = current.supersedes.filter((id) => id !== by.id);
    const record = {
      ...current,
      supersedes,
      superseded_by: by.id,
      verification_due: false,
      updated_at: instantOf(desk),
    };
    await putRecord(desk.store, owner, record);
    marked.push(record);
  }
  return marked;
}

/** Takes the link to a revived record out of the one that had replaced it. `revived` is as it was before. */
export async function unlink(desk: Desk, owner: string, revived: MemoryRecord): Promise<void> {
  if (revived.superseded_by === null) return;
  const other = await readRecord(desk.store, owner, recordNamespace(owner, revived), revived.superseded_by);
  if (other === undefined || !other.supersedes.includes(revived.id)) return;
  await putRecord(desk.store, owner, {
    ...other,
    supersedes: other.supersedes.filter((id) => id !== revived.id),
  });
}
