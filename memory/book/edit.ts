/** Corrections by the owner: a new text is a new record that replaces the old one, all else changes in place. */
import { assertOwner } from "../namespaces.ts";
import { checkText } from "../policy/check-text.ts";
import type { MemoryRecord } from "../record.ts";
import { stateOf } from "../retention/lifecycle.ts";
import { commitRecord } from "./commit.ts";
import { comparableText } from "./comparable-text.ts";
import { conflictGroupOf } from "./conflict-group.ts";
import { instantOf, type Desk } from "./desk.ts";
import { locate } from "./find.ts";
import { expiryOf } from "./new-record.ts";
import { putRecord, recordId } from "./rows.ts";
import { liftTombstones } from "./tombstones.ts";
import type { Change, None, RememberOutcome, Who } from "./types.ts";

/** Changes one record; see `MemoryBook.edit`. */
export async function edit(
  desk: Desk,
  who: Who,
  id: string,
  change: Change,
): Promise<RememberOutcome | None> {
  assertOwner(who.owner);
  const old = await locate(desk, who.owner, id);
  if (old === undefined) return { kind: "none" };
  if (change.text === undefined) return editInPlace(desk, who.owner, changeFields(desk, old, change));
  const verdict = await checkText(change.text, { scan: desk.scan, isTrusted: true });
  const { hidden } = verdict;
  if (verdict.action !== "allow") return { kind: "denied", denial: denialIn(verdict), hidden };
  const changed = { ...changeFields(desk, old, change), text: verdict.text };
  if (comparableText(verdict.text) === comparableText(old.text))
    return { ...(await editInPlace(desk, who.owner, changed)), hidden };
  const record = retell(desk, who, changed);
  const outcome = await commitRecord(desk, who.owner, record, { isExplicit: true, hidden, replaces: [old] });
  await liftTombstones(desk, who.owner, verdict.text);
  return outcome;
}

/** A trusted text is never put aside. */
function denialIn(
  verdict: Awaited<ReturnType<typeof checkText>>,
): Extract<RememberOutcome, { kind: "denied" }>["denial"] {
  if (verdict.action === "deny") return verdict.denial;
  throw new TypeError("the gate put a trusted text aside");
}

function changeFields(desk: Desk, old: MemoryRecord, change: Change): MemoryRecord {
  const { expiresAt, archived, confidence } = change;
  const now = instantOf(desk);
  const expires_at =
    typeof expiresAt === "string" ? expiryOf(old.domain, expiresAt, now) : (expiresAt ?? null);
  return {
    ...old,
    ...(expiresAt === undefined ? {} : { expires_at, expired: false }),
    ...(archived === undefined ? {} : { archived }),
    ...(confidence === undefined ? {} : { confidence: Math.min(1, Math.max(0, confidence)) }),
    updated_at: now,
  };
}

async function editInPlace(
  desk: Desk,
  owner: string,
  record: MemoryRecord,
): Promise<Extract<RememberOutcome, { kind: "stored" }>> {
  await putRecord(desk.store, owner, record);
  const revived = stateOf(record, desk.clock.now()) === "current";
  return {
    kind: "stored",
    record,
    superseded: [],
    conflicts: [],
    revived: !revived,
    domainRule: null,
    hidden: null,
  };
}

/** The record of the new text: said now, by the owner, in the place of the old one. */
function retell(desk: Desk, who: Who, changed: MemoryRecord): MemoryRecord {
  const now = instantOf(desk);
  return {
    ...changed,
    id: recordId(who.owner, changed, changed.text),
    said_by: "owner",
    source: "command",
    confidence: 1,
    created_at: now,
    session_id: who.sessionId ?? null,
    turn: who.turn ?? null,
    last_verified: null,
    archived: false,
    verification_due: false,
    conflict_group: conflictGroupOf(changed.text),
    supersedes: [],
    superseded_by: null,
    review: null,
  };
}
