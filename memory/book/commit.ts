/** Writes a record that has passed the gate: looks for the same fact and for contradictions, then puts it once. */
import type { HiddenText } from "../policy/verdict.ts";
import type { MemoryRecord } from "../record.ts";
import { stateOf } from "../retention/lifecycle.ts";
import { instantOf, type Desk } from "./desk.ts";
import { reread } from "./rows.ts";
import { rivalsAmong } from "./contradiction.ts";
import { rivalsOf } from "./rivals.ts";
import { finishReplacements, markSuperseded, putReplacing, unlink } from "./supersede.ts";
import type { RememberOutcome } from "./types.ts";

/** Options of {@link commitRecord}. */
export interface CommitOptions {
  /** The owner said it in so many words: it confirms, revives, and takes the place of what says otherwise. */
  readonly isExplicit: boolean;
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
  const { isExplicit, domainRule = null, hidden = null, replaces = [] } = options;
  const existing = await reread(desk.store, owner, record);
  if (existing !== undefined && !isExplicit) {
    return { kind: "known", record: existing, confirmed: false, superseded: [], hidden };
  }
  await finishReplacements(desk, owner);
  const rivals = rivalsAmong(record.text, await rivalsOf(desk, owner, record));
  const replaced = mayReplace(record) ? unique([...rivals.replaced, ...replaces], record.id) : [];
  const written = {
    ...(existing === undefined ? record : confirm(existing, record, instantOf(desk))),
    supersedes: replaced.map(({ id }) => id),
  };
  await putReplacing(desk, owner, written);
  if (existing !== undefined) await unlink(desk, owner, existing);
  const superseded = await markSuperseded(desk, owner, { by: written, replaced });
  if (existing !== undefined && stateOf(existing, desk.clock.now()) === "current") {
    return { kind: "known", record: written, confirmed: true, superseded, hidden };
  }
  const revived = existing !== undefined;
  const gone = new Set(superseded.map(({ id }) => id));
  const conflicts = rivals.disagreeing.filter(({ id }) => !gone.has(id));
  return { kind: "stored", record: written, superseded, conflicts, revived, domainRule, hidden };
}

/** Only the owner's own word replaces what stands; anything else is put beside it. */
function mayReplace({ said_by }: MemoryRecord): boolean {
  return said_by === "owner";
}

/** The stored record after the owner has said it again: confirmed, readable again, with a new expiry if one was given. */
function confirm(existing: MemoryRecord, said: MemoryRecord, now: string): MemoryRecord {
  const isOver = existing.expires_at !== null && existing.expires_at <= now;
  return {
    ...existing,
    said_by: said.said_by,
    source: said.source,
    confidence: Math.max(existing.confidence, said.confidence),
    updated_at: now,
    last_verified: now,
    expires_at: said.expires_at ?? (isOver ? null : existing.expires_at),
    expired: false,
    archived: false,
    verification_due: false,
    superseded_by: null,
  };
}

function unique(records: readonly MemoryRecord[], except: string): MemoryRecord[] {
  const byId = new Map(records.filter(({ id }) => id !== except).map((record) => [record.id, record]));
  return [...byId.values()];
}
