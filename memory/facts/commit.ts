/** Writes a record that has passed the gate: with the marks on what it takes the place of, in one batch, or aside for a review. */
import { recordNamespace } from "../namespaces.ts";
import type { HiddenText } from "../policy/verdict.ts";
import type { MemoryRecord } from "../record.ts";
import { sameAbout } from "./about.ts";
import { currentOf } from "./read.ts";
import { type FactDeps, instantOf, putRecords, readRecords, reread } from "./rows.ts";
import type { RememberOutcome } from "./types.ts";

export interface CommitOptions {
  /** The owner said it in so many words: it confirms and revives. */
  readonly isExplicit: boolean;
  readonly domainRule?: string | null;
  readonly hidden?: HiddenText | null;
  /** Replaced whatever they are about, as an edited record is. */
  readonly replaces?: readonly MemoryRecord[];
}

/** An outcome of a record that may be written. */
export type CommitOutcome = Extract<RememberOutcome, { kind: "stored" | "known" }>;

/**
 * Commits `record`. The same text in the same place is the same fact, which is confirmed. What holds in that place about
 * the same is superseded by what the owner or the model says; what a tool or a file says stands beside it. Everything is
 * read right before the write.
 */
export async function commitRecord(
  deps: FactDeps,
  owner: string,
  record: MemoryRecord,
  { isExplicit, domainRule = null, hidden = null, replaces = [] }: CommitOptions,
): Promise<CommitOutcome> {
  const { records: all } = await readRecords(deps.store, owner, [recordNamespace(owner, record)]);
  const existing = all.find(({ id }) => id === record.id);
  const about = { ...record, conflict_group: record.conflict_group ?? existing?.conflict_group ?? null };
  const current = currentOf(all, deps.clock.now());
  const isCurrent = current.some(({ id }) => id === record.id);
  const rivals = sameAbout(about, current);
  const mayReplace = record.said_by === "owner" || record.said_by === "assistant";
  const replaceable = [...rivals, ...replaces.filter(({ id }) => !rivals.some((rival) => rival.id === id))];
  const replaced = mayReplace ? replaceable.filter(({ id }) => id !== record.id) : [];
  // A note brings back only what was superseded, where it says what it is about; all else is the owner's to bring back.
  const saysWhatOf = record.conflict_group !== null || replaces.length > 0;
  const mayRevive = mayReplace && saysWhatOf && existing?.superseded_by != null;
  const isToWrite = isExplicit || (isCurrent ? replaced.length > 0 : existing === undefined || mayRevive);
  if (existing !== undefined && !isToWrite)
    return { kind: "known", record: existing, confirmed: false, superseded: [], hidden };
  const stored = existing === undefined ? about : confirmed(existing, about, { isExplicit, deps });
  const { by, superseded } = await supersede(deps, owner, { by: stored, replaced, all });
  if (isCurrent) return { kind: "known", record: by, confirmed: isExplicit, superseded, hidden };
  const conflicts = rivals.filter((rival) => !replaced.includes(rival));
  const revived = existing !== undefined;
  return { kind: "stored", record: by, superseded, conflicts, revived, domainRule, hidden };
}

/**
 * Puts `by` and marks `replaced` as superseded by it, in one batch: all of it or nothing, where the store's batch is one
 * transaction. What `by` was itself superseded by no longer names it.
 *
 * @param all records beside it
 */
export async function supersede(
  deps: FactDeps,
  owner: string,
  {
    by,
    replaced,
    all,
  }: { readonly by: MemoryRecord } & Readonly<Record<"replaced" | "all", readonly MemoryRecord[]>>,
): Promise<{ readonly by: MemoryRecord; readonly superseded: readonly MemoryRecord[] }> {
  const ids = replaced.map(({ id }) => id);
  const written = { ...by, supersedes: [...new Set([...by.supersedes, ...ids])] };
  const without = (old: MemoryRecord): string[] => old.supersedes.filter((id) => id !== by.id);
  const superseded = replaced.map((old) => ({
    ...old,
    supersedes: without(old),
    superseded_by: by.id,
    verification_due: false,
    updated_at: instantOf(deps),
  }));
  const unlinked = all
    .filter(({ id, supersedes }) => id !== by.id && supersedes.includes(by.id) && !ids.includes(id))
    .map((old) => ({ ...old, supersedes: without(old) }));
  await putRecords(deps.store, owner, [written, ...superseded, ...unlinked]);
  return { by: written, superseded };
}

/** The stored record after it was said again: readable, with a new expiry if one was given; by the owner it is confirmed. */
function confirmed(
  existing: MemoryRecord,
  said: MemoryRecord,
  { isExplicit, deps }: { readonly isExplicit: boolean; readonly deps: FactDeps },
): MemoryRecord {
  const now = instantOf(deps);
  const isOver = existing.expires_at !== null && existing.expires_at <= now;
  return {
    ...existing,
    // A note is no confirmation, also one of what the owner has said.
    ...(isExplicit ? { said_by: said.said_by, source: said.source, last_verified: now } : {}),
    confidence: Math.max(existing.confidence, said.confidence),
    updated_at: now,
    expires_at: said.expires_at ?? (isOver ? null : existing.expires_at),
    expired: false,
    archived: false,
    verification_due: isExplicit ? false : existing.verification_due,
    conflict_group: said.conflict_group,
    superseded_by: null,
  };
}

/** Puts `pending` aside for a review, once. @returns what waits now, or the fact where the owner has it already */
export async function quarantine(
  deps: FactDeps,
  owner: string,
  pending: MemoryRecord,
): Promise<MemoryRecord> {
  const known = await reread(deps.store, owner, { ...pending, review: null });
  const before = known ?? (await reread(deps.store, owner, pending));
  if (before === undefined) await putRecords(deps.store, owner, [pending]);
  return before ?? pending;
}
