/** Puts a record aside for a review. */
import type { MemoryRecord } from "../record.ts";
import type { Desk } from "./desk.ts";
import { putRecord, reread } from "./rows.ts";

/** Puts `pending` aside, once; or finds it known, when the owner has the fact already. */
export async function quarantine(
  desk: Desk,
  owner: string,
  pending: MemoryRecord,
): Promise<{ readonly record: MemoryRecord } | { readonly known: MemoryRecord }> {
  const known = await reread(desk.store, owner, { ...pending, review: null });
  if (known !== undefined) return { known };
  const before = await reread(desk.store, owner, pending);
  if (before !== undefined) return { record: before };
  await putRecord(desk.store, owner, pending);
  return { record: pending };
}
