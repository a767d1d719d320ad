/** Confirming facts and settling contradictions between them, by the owner's word. */
import { assertOwner, recordNamespace } from "../namespaces.ts";
import type { MemoryRecord } from "../record.ts";
import { instantOf, type Desk } from "./desk.ts";
import { locate } from "./find.ts";
import { compareText, putRecord, readAll } from "./rows.ts";
import { currentOf } from "./settle.ts";
import { mayDisagree, rivalsAmong } from "./contradiction.ts";
import { rivalsOf } from "./rivals.ts";
import { statementOf } from "./statement.ts";
import { markSuperseded, putReplacing, unlink } from "./supersede.ts";
import type { Conflict, ResolveOutcome, Who } from "./types.ts";

/** Confirms records; see `MemoryBook.verify`. */
export async function verify(
  desk: Desk,
  who: Who,
  ids: readonly string[],
): Promise<{ readonly verified: readonly MemoryRecord[]; readonly missing: readonly string[] }> {
  assertOwner(who.owner);
  const byId = new Map((await readAll(desk.store, who.owner)).map((record) => [record.id, record]));
  const verified: MemoryRecord[] = [];
  for (const id of new Set(ids)) {
    const record = byId.get(id.toLowerCase());
    if (record === undefined) continue;
    const now = instantOf(desk);
    const confirmed = { ...record, last_verified: now, verification_due: false, updated_at: now };
    await putRecord(desk.store, who.owner, confirmed);
    verified.push(confirmed);
  }
  return { verified, missing: [...new Set(ids)].filter((id) => !byId.has(id.toLowerCase())) };
}

/** Current records that say different things about the same, newest first in each group; groups in order of their names. */
export async function conflicts(desk: Desk, who: Who): Promise<Conflict[]> {
  assertOwner(who.owner);
  const groups = new Map<string, MemoryRecord[]>();
  for (const record of currentOf(await readAll(desk.store, who.owner), desk.clock.now())) {
    if (record.conflict_group === null) continue;
    const key = JSON.stringify([record.conflict_group, ...recordNamespace(who.owner, record)]);
    groups.set(key, [...(groups.get(key) ?? []), record]);
  }
  return [...groups]
    .map(([key, records]): [string, MemoryRecord[]] => [key, disagreeing(records)])
    .filter(([, records]) => records.length > 1)
    .sort(([a], [b]) => compareText(a, b))
    .map(([, records]) => ({
      group: records[0]?.conflict_group ?? "",
      records: records.sort((a, b) => compareText(b.updated_at, a.updated_at) || compareText(a.id, b.id)),
    }));
}

/** Those that say otherwise than another one of them. */
function disagreeing(records: readonly MemoryRecord[]): MemoryRecord[] {
  const stated = records.flatMap((record) => {
    const states = statementOf(record.text);
    return states === null ? [] : [{ record, states }];
  });
  return stated
    .filter(({ states }) => stated.some((other) => mayDisagree(states, other.states)))
    .map(({ record }) => record);
}

/** Keeps one record and supersedes those of its group that say otherwise; see `MemoryBook.resolve`. */
export async function resolve(desk: Desk, who: Who, keepId: string): Promise<ResolveOutcome> {
  assertOwner(who.owner);
  const chosen = await locate(desk, who.owner, keepId);
  if (chosen === undefined) return { kind: "none" };
  const { disagreeing: rivals } = rivalsAmong(chosen.text, await rivalsOf(desk, who.owner, chosen));
  const now = instantOf(desk);
  const kept = {
    ...chosen,
    supersedes: [...new Set([...chosen.supersedes, ...rivals.map(({ id }) => id)])],
    superseded_by: null,
    archived: false,
    verification_due: false,
    last_verified: now,
    updated_at: now,
  };
  await putReplacing(desk, who.owner, kept);
  await unlink(desk, who.owner, chosen);
  return {
    kind: "resolved",
    kept,
    superseded: await markSuperseded(desk, who.owner, { by: kept, replaced: rivals }),
  };
}
