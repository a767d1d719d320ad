/** A record for tests: what the owner asked to keep, with nothing special about it. */
import type { MemoryRecord } from "../record.ts";

const AT = "2026-03-01T09:00:00.000Z";

/** The record, with `changes`. */
export function memoryRecord(
  changes: Pick<MemoryRecord, "id" | "text"> & Partial<MemoryRecord>,
): MemoryRecord {
  return {
    schema_version: 1,
    domain: "user_profile",
    said_by: "owner",
    source: "command",
    confidence: 1,
    created_at: AT,
    updated_at: AT,
    session_id: null,
    turn: null,
    scope: "global",
    task: null,
    stability: "medium",
    expires_at: null,
    last_verified: null,
    expired: false,
    archived: false,
    verification_due: false,
    conflict_group: null,
    supersedes: [],
    superseded_by: null,
    review: null,
    ...changes,
  };
}
