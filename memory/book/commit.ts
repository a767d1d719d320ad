/** Writes a record that has passed the gate: looks for the same fact and for contradictions, then puts it once. */
import type { HiddenText } from "../policy/verdict.ts";
import type { MemoryRecord } from "../record.ts";
import { stateOf } from "../retention/lifecycle.ts";
import { instantOf, type Desk } from "./desk.ts";
import { reread } from "./rows.ts";
import { rivalsAmong, type Rivals } from "./contradiction.ts";
import { rivalsOf } from "./rivals.ts";
import { finishReplacements, markSuperseded, putReplacing, unlink } from "./supersede.ts";
import type { RememberOutcome } from "./types.ts";

/** Options of {@link commitRecord}. */
export interface CommitOptions {
  /** The owner said it in so many words: it confirms, revives, and takes the place of what says otherwise. */
  readonly isExplicit: boolean;
  /** Somebody noted what the owner has said: it takes the place of what says otherwise too, and stays a note. */
  readonly isOwnWord?: boolean;
  readonly domainRule?: string | null;
  readonly hidden?: HiddenText | null;
  /** Replaced whatever they are about, as an edited record is. */
  readonly replaces?: readonly MemoryRecord[];
}

/** An outcome of a record that may be written. */
export type CommitOutcome = Extract<RememberOutcome, { kind: "stored" | "known" }>;

/**
 * Commits `record` by one put; marks on what it replaces follow, and until they are written reading draws the same
 * conclusion from `supersedes`, or from the note that came before the put. Everything is read again right before.
 */
export async function commitRecord(
  desk: Desk,
  owner: string,
  record: MemoryRecord,
  options: CommitOptions,
): Promise<CommitOutcome> {
  const { isExplicit, isOwnWord = false, hidden = null } = options;
  const existing = await reread(desk.store, owner, record);
  if (existing !== undefined && !isExplicit && !isOwnWord) return knownAs(existing, hidden);
  await finishReplacements(desk, owner);
  const rivals = rivalsAmong(record.text, await rivalsOf(desk, owner, record));
  if (isExplicit) return write(desk, owner, { record, existing, rivals, options });
  const current = isCurrent(desk, existing) ? existing : undefined;
  const same = current ?? rivals.same[0];
  if (same === undefined) return write(desk, owner, { record, existing, rivals, options });
  // Said before, in these words or others: there is nothing to write, unless something that says otherwise still stands.
  const replaced = isOwnWord ? rivals.disagreeing.filter((one) => rivals.replaced.includes(one)) : [];
  if (replaced.length === 0) return knownAs(same, hidden);
  const disagreeing = { ...rivals, replaced };
  return write(desk, owner, { record: same, existing: same, rivals: disagreeing, options });
}

interface Writing {
  readonly record: MemoryRecord;
  /** The stored record of the same text. */
  readonly existing: MemoryRecord | undefined;
  readonly rivals: Rivals<MemoryRecord>;
  readonly options: CommitOptions;
}

async function write(
  desk: Desk,
  owner: string,
  { record, existing, rivals, options }: Writing,
): Promise<CommitOutcome> {
  const { domainRule = null, hidden = null, replaces = [] } = options;
  const mayReplace = isOwners(record) || options.isOwnWord === true;
  const replaced = mayReplace ? unique([...rivals.replaced, ...replaces], record.id) : [];
  const written = {
    ...(existing === undefined
      ? record
      : confirm(existing, record, { isExplicit: options.isExplicit, now: instantOf(desk) })),
    supersedes: replaced.map(({ id }) => id),
  };
  await putReplacing(desk, owner, written);
  if (existing !== undefined) await unlink(desk, owner, existing);
  const superseded = await markSuperseded(desk, owner, { by: written, replaced });
  if (isCurrent(desk, existing))
    return { kind: "known", record: written, confirmed: options.isExplicit, superseded, hidden };
  const revived = existing !== undefined;
  const gone = new Set(superseded.map(({ id }) => id));
  const conflicts = rivals.disagreeing.filter(({ id }) => !gone.has(id));
  return { kind: "stored", record: written, superseded, conflicts, revived, domainRule, hidden };
}

function knownAs(record: MemoryRecord, hidden: HiddenText | null): CommitOutcome {
  return { kind: "known", record, confirmed: false, superseded: [], hidden };
}

function isCurrent(desk: Desk, record: MemoryRecord | undefined): boolean {
  return record !== undefined && stateOf(record, desk.clock.now()) === "current";
}

/** Only the owner's own word replaces what stands; anything else is put beside it. */
function isOwners({ said_by }: MemoryRecord): boolean {
  return said_by === "owner";
}

/** The stored record after the owner has said it again: confirmed, readable again, with a new expiry if one was given. */
function confirm(
  existing: MemoryRecord,
  said: MemoryRecord,
  { isExplicit, now }: { readonly isExplicit: boolean; readonly now: string },
): MemoryRecord {
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
    superseded_by: null,
  };
}

function unique(records: readonly MemoryRecord[], except: string): MemoryRecord[] {
  const byId = new Map(records.filter(({ id }) => id !== except).map((record) => [record.id, record]));
  return [...byId.values()];
}
