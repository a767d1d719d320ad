/** The door for a new fact: gate, then the owner's own forgetting, then review or commit. */
import { assertOwner } from "../namespaces.ts";
import { checkText, isTrustedSpeaker, reviewRule } from "../policy/check-text.ts";
import { commitRecord } from "./commit.ts";
import { instantOf, type Desk } from "./desk.ts";
import { newRecord, placeOf } from "./new-record.ts";
import { quarantine } from "./quarantine.ts";
import { liftTombstones, readTombstones } from "./tombstones.ts";
import type { Fact, RememberOutcome, Who } from "./types.ts";

/** Remembers `fact`; see `MemoryBook.remember`. */
export async function remember(desk: Desk, who: Who, fact: Fact): Promise<RememberOutcome> {
  assertOwner(who.owner);
  const { isOwnWord = false } = fact;
  const options = { scan: desk.scan, isTrusted: isTrustedSpeaker(fact.saidBy) };
  const verdict = await checkText(fact.text, options);
  const { hidden } = verdict;
  if (verdict.action === "deny") return { kind: "denied", denial: verdict.denial, hidden };
  const ofTask =
    fact.task === undefined ? undefined : await checkText(fact.task, { ...options, isName: true });
  if (ofTask?.action === "deny") return { kind: "denied", denial: ofTask.denial, hidden: null };
  const clean = { ...fact, text: verdict.text };
  const place = placeOf(clean);
  const now = instantOf(desk);
  const record = newRecord(who, clean, place, now);
  const isExplicit = fact.saidBy === "owner" && fact.source === "command";
  if (!isExplicit) {
    const [stone] = (await readTombstones(desk, who.owner)).of(clean.text);
    if (stone !== undefined) return { kind: "forgotten", forgottenAt: stone.forgotten_at };
  }
  const rule =
    verdict.action === "quarantine"
      ? verdict.rule
      : reviewRule(record, { isTrusted: options.isTrusted || isOwnWord });
  if (rule !== null) {
    const pending = await quarantine(desk, who.owner, {
      ...record,
      review: { state: "pending", rule, at: now },
    });
    return "known" in pending
      ? { kind: "known", record: pending.known, confirmed: false, superseded: [], hidden }
      : { kind: "quarantined", record: pending.record, rule, hidden };
  }
  const how = { isExplicit, isOwnWord, domainRule: place.rule, hidden };
  const outcome = await commitRecord(desk, who.owner, record, how);
  // After the put: a crash between leaves a fact that imports would not bring back, and which is there.
  if (isExplicit) await liftTombstones(desk, who.owner, clean.text);
  return outcome;
}
