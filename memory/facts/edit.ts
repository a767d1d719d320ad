/** Corrections by the owner: a new text or domain is a new record that replaces the old one, all else changes in place. */
import { LilyError } from "#src/kernel/errors.ts";
import { checkText, nameDenial } from "../policy/check-text.ts";
import type { Domain, MemoryRecord } from "../record.ts";
import { sameAbout, slugOf } from "./about.ts";
import { commitRecord } from "./commit.ts";
import { expiryOf, newRecord } from "./new-record.ts";
import { currentOf } from "./read.ts";
import { RETENTION } from "./retention.ts";
import { type FactDeps, instantOf, putRecords, readAll, recordId } from "./rows.ts";
import { liftTombstones } from "./tombstones.ts";
import type { Change, None, RememberOutcome, Who } from "./types.ts";

/** A new text or domain replaces the record by a new one; all else changes in place. The owner's word. */
export async function edit(
  deps: FactDeps,
  who: Who,
  id: string,
  { text, ...change }: Change,
): Promise<RememberOutcome | None> {
  const { records: all } = await readAll(deps.store, who.owner);
  const old = all.find((record) => record.id === id.toLowerCase());
  if (old === undefined) return { kind: "none" };
  const options = { scan: deps.scan, isTrusted: true };
  const { about } = change;
  const denial = await nameDenial([about], options);
  if (denial !== undefined) return { kind: "denied", denial };
  const gate = text === undefined ? undefined : await checkText(text, options);
  if (gate?.action === "deny") return { kind: "denied", denial: gate.denial };
  const hidden = gate?.hidden ?? null;
  const changed = { ...changeFields(deps, old, change), text: gate?.text ?? old.text };
  const newId = recordId(who.owner, changed, changed.text);
  if (newId !== old.id) {
    // Said now, by the owner, in the place of the old one.
    const said = { text: changed.text, saidBy: "owner", source: "command" } as const;
    const { expires_at, conflict_group } = changed;
    const record = {
      ...newRecord(who, said, { ...changed, rule: null }, changed.updated_at),
      expires_at,
      conflict_group,
    };
    const how = { isExplicit: true, hidden, replaces: [old] };
    const outcome = await commitRecord(deps, who.owner, record, how);
    await liftTombstones(deps, who.owner, changed.text);
    return outcome;
  }
  await putRecords(deps.store, who.owner, [changed]);
  const conflicts = about === undefined ? [] : sameAbout(changed, currentOf(all, deps.clock.now()));
  const told = { superseded: [], conflicts, revived: false, domainRule: null, hidden };
  return { kind: "stored", record: changed, ...told };
}

function changeFields(
  deps: FactDeps,
  old: MemoryRecord,
  { expiresAt, archived, about, domain }: Omit<Change, "text">,
): MemoryRecord {
  const now = instantOf(deps);
  const expires_at =
    typeof expiresAt === "string" ? expiryOf(domain ?? old.domain, expiresAt, now) : (expiresAt ?? null);
  return {
    ...old,
    ...(expiresAt === undefined ? {} : { expires_at, expired: false }),
    ...(archived === undefined ? {} : { archived }),
    ...(about === undefined ? {} : { conflict_group: slugOf(about) }),
    ...(domain === undefined ? {} : movedTo(domain, old)),
    updated_at: now,
  };
}

function movedTo(domain: Domain, { task, expires_at }: MemoryRecord): Partial<MemoryRecord> {
  if (task !== null || domain === "task_memory")
    throw new LilyError("memory_input_invalid", "a fact of a task stays with its task", {
      next: "Forget it there, and remember it anew.",
    });
  const { stability, expiry } = RETENTION[domain];
  return { domain, stability, expires_at: expiry === "none" ? null : expires_at };
}
