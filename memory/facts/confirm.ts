/** Confirming facts, and deciding between those about the same, by the owner's word. */
import { recordNamespace } from "../namespaces.ts";
import type { MemoryRecord } from "../record.ts";
import { aboutOf, sameAbout } from "./about.ts";
import { supersede } from "./commit.ts";
import { currentOf } from "./read.ts";
import { compareText, type FactDeps, instantOf, putRecords, readAll } from "./rows.ts";
import type { Conflict, ResolveOutcome, Who } from "./types.ts";

/** Confirms records; see `FactStore.verify`. */
export async function verify(
  deps: FactDeps,
  { owner }: Who,
  ids: readonly string[],
): Promise<{ readonly verified: readonly MemoryRecord[] }> {
  const wanted = new Set(ids.map((id) => id.toLowerCase()));
  const { records } = await readAll(deps.store, owner);
  const now = instantOf(deps);
  const verified = records
    .filter(({ id }) => wanted.has(id))
    .map((record) => ({ ...record, last_verified: now, verification_due: false, updated_at: now }));
  await putRecords(deps.store, owner, verified);
  return { verified };
}

/** Current records about the same, newest first in each group; groups in order of their names. */
export async function conflicts(deps: FactDeps, { owner }: Who): Promise<Conflict[]> {
  const groups = new Map<string, Conflict>();
  const { records: all } = await readAll(deps.store, owner);
  for (const record of currentOf(all, deps.clock.now())) {
    const group = aboutOf(record);
    if (group === null) continue;
    const key = JSON.stringify([group, ...recordNamespace(owner, record)]);
    groups.set(key, { group, records: [...(groups.get(key)?.records ?? []), record] });
  }
  return [...groups]
    .filter(([, { records }]) => records.length > 1)
    .sort(([a], [b]) => compareText(a, b))
    .map(([, { group, records }]) => ({
      group,
      records: records.toSorted((a, b) => compareText(b.updated_at, a.updated_at) || compareText(a.id, b.id)),
    }));
}

/** Keeps one record and supersedes the others about the same; see `FactStore.resolve`. */
export async function resolve(deps: FactDeps, { owner }: Who, keepId: string): Promise<ResolveOutcome> {
  const { records: all } = await readAll(deps.store, owner);
  const chosen = all.find(({ id }) => id === keepId.toLowerCase());
  if (chosen === undefined) return { kind: "none" };
  const now = instantOf(deps);
  const held = {
    ...chosen,
    superseded_by: null,
    archived: false,
    verification_due: false,
    last_verified: now,
    updated_at: now,
  };
  const replaced = sameAbout(held, currentOf(all, deps.clock.now()));
  const { by, superseded } = await supersede(deps, owner, { by: held, replaced, all });
  return { kind: "resolved", kept: by, superseded };
}
