/** Confirming facts, and deciding between those about the same, by the owner's word. */
import { assertOwner, recordNamespace } from "../namespaces.ts";
import type { MemoryRecord } from "../record.ts";
import { aboutOf, sameAbout } from "./about.ts";
import { supersede } from "./commit.ts";
import { type FactDeps, instantOf } from "./fact-deps.ts";
import { compareText, putRecord, readAll } from "./rows.ts";
import { currentOf } from "../retention/lifecycle.ts";
import type { Conflict, ResolveOutcome, Who } from "./types.ts";

/** Confirms records; see `FactStore.verify`. */
export async function verify(
  deps: FactDeps,
  who: Who,
  ids: readonly string[],
): Promise<{ readonly verified: readonly MemoryRecord[]; readonly missing: readonly string[] }> {
  assertOwner(who.owner);
  const byId = new Map((await readAll(deps.store, who.owner)).map((record) => [record.id, record]));
  const verified: MemoryRecord[] = [];
  for (const id of new Set(ids)) {
    const record = byId.get(id.toLowerCase());
    if (record === undefined) continue;
    const now = instantOf(deps);
    const confirmed = { ...record, last_verified: now, verification_due: false, updated_at: now };
    await putRecord(deps.store, who.owner, confirmed);
    verified.push(confirmed);
  }
  return { verified, missing: [...new Set(ids)].filter((id) => !byId.has(id.toLowerCase())) };
}

/** Current records about the same, newest first in each group; groups in order of their names. */
export async function conflicts(deps: FactDeps, who: Who): Promise<Conflict[]> {
  assertOwner(who.owner);
  const groups = new Map<string, Conflict>();
  for (const record of currentOf(await readAll(deps.store, who.owner), deps.clock.now())) {
    const group = aboutOf(record);
    if (group === null) continue;
    const key = JSON.stringify([group, ...recordNamespace(who.owner, record)]);
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
export async function resolve(deps: FactDeps, who: Who, keepId: string): Promise<ResolveOutcome> {
  assertOwner(who.owner);
  const all = await readAll(deps.store, who.owner);
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
  const { by, superseded } = await supersede(deps, who.owner, { by: held, replaced, all });
  return { kind: "resolved", kept: by, superseded };
}
