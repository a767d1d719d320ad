/** Which facts say otherwise about the same thing: those of one place and conflict group. */
import { recordNamespace } from "../namespaces.ts";
import type { MemoryRecord } from "../record.ts";
import type { Desk } from "./desk.ts";
import { compareText, readRecords } from "./rows.ts";
import { currentOf } from "./settle.ts";

/** Current records of the same place that are about the same as `record` and say otherwise. */
export async function rivalsOf(desk: Desk, owner: string, record: MemoryRecord): Promise<MemoryRecord[]> {
  const group = record.conflict_group;
  if (group === null) return [];
  const { records } = await readRecords(desk.store, owner, recordNamespace(owner, record));
  return currentOf(records, desk.clock.now())
    .filter(({ id, conflict_group }) => id !== record.id && conflict_group === group)
    .sort((a, b) => compareText(a.created_at, b.created_at) || compareText(a.id, b.id));
}
