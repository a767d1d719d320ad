/** What an erasure of a person would take along. Changes nothing. */
import type { ErasureDeps } from "./erasure-deps.ts";
import { findOwner } from "./erase-owner.ts";
import { placeOf } from "./owner-tally.ts";
import type { PlaceName } from "./receipt.ts";

/** How many items would go from each place; empty when nothing is kept of the person. */
export async function previewOwner(
  deps: ErasureDeps,
  owner: string,
): Promise<{ readonly place: PlaceName; readonly count: number }[]> {
  const { namespaces, threads, indexed } = await findOwner(deps, owner);
  const counts = new Map<PlaceName, number>();
  const add = (place: PlaceName, count: number): void => {
    if (count > 0) counts.set(place, (counts.get(place) ?? 0) + count);
  };
  for (const { namespace, items } of namespaces) add(placeOf(namespace), items);
  add("checkpoints", threads.length);
  add("session index", indexed.length);
  add("input history", deps.typed?.owner === owner ? deps.typed.count(() => true) : 0);
  return [...counts].map(([place, count]) => ({ place, count }));
}
