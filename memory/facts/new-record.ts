/** Makes a record of a fact: where it belongs, by the table of openings where nobody says it, and what it is by default. Decides only. */
import { fromInstant, toInstant } from "#src/kernel/clock.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { type RecordPlace, taskOf } from "../namespaces.ts";
import {
  DOMAINS,
  scopeSchema,
  type Domain,
  type MemoryRecord,
  type PersonalityDomain,
  type SaidBy,
  type Source,
} from "../record.ts";
import { slugOf } from "./about.ts";
import { RETENTION } from "./retention.ts";
import { recordId } from "./rows.ts";
import type { Fact, Who } from "./types.ts";

/** Confidence by who said it: the owner in so many words; what was gathered from talk; what others say. */
const CONFIDENCE: Readonly<Record<SaidBy, number>> = { owner: 1, import: 0.7, assistant: 0.5, tool: 0.5 };
const INFERRED_FROM_OWNER = 0.8;

/** The place of a fact, and the row of the decision table that chose its domain. */
export interface PlacedFact extends RecordPlace {
  readonly rule: string | null;
}

/**
 * Where `fact` belongs.
 *
 * @throws {LilyError} `memory_input_invalid` for task memory without a task, a task elsewhere, or a malformed scope or task.
 */
export function placeOf({ text, domain, task, scope = "global" }: Fact): PlacedFact {
  if (!scopeSchema.safeParse(scope).success)
    throw invalid('a scope is "global" or "agent:<name>"', "Name it so, or leave it out.");
  if (domain !== undefined && !DOMAINS.includes(domain))
    throw invalid(`there is no domain ${JSON.stringify(domain)}`, `Domains are ${DOMAINS.join(", ")}.`);
  if (domain === "task_memory" || (domain === undefined && task !== undefined))
    return { domain: "task_memory", task: taskOf(task), scope, rule: null };
  if (task !== undefined) throw invalid(`${domain} belongs to no task`, "Leave out the task, or the domain.");
  return { ...(domain === undefined ? decideDomain(text) : { domain, rule: null }), task: null, scope };
}

/** A new record of `fact`, whose text has passed the gate. `now` is an instant. */
export function newRecord(who: Who, fact: Fact, place: PlacedFact, now: string): MemoryRecord {
  const { domain, task, scope } = place;
  return {
    schema_version: 1,
    id: recordId(who.owner, place, fact.text),
    domain,
    text: fact.text,
    said_by: fact.saidBy,
    source: fact.source,
    confidence: confidenceOf(fact.saidBy, fact.source),
    created_at: now,
    updated_at: now,
    session_id: who.sessionId ?? null,
    turn: who.turn ?? null,
    scope,
    task,
    stability: RETENTION[domain].stability,
    expires_at: fact.expiresAt === undefined ? null : expiryOf(domain, fact.expiresAt, now),
    last_verified: null,
    expired: false,
    archived: false,
    verification_due: false,
    conflict_group: fact.about === undefined ? null : slugOf(fact.about),
    supersedes: [],
    superseded_by: null,
    review: null,
  };
}

function confidenceOf(saidBy: SaidBy, source: Source): number {
  return saidBy === "owner" && source === "inference" ? INFERRED_FROM_OWNER : CONFIDENCE[saidBy];
}

/**
 * An expiry as it is stored.
 *
 * @throws {LilyError} `memory_input_invalid` where the domain has none, or for what is no instant after `now`.
 */
export function expiryOf(domain: Domain, expiresAt: string, now: string): string {
  if (RETENTION[domain].expiry === "none")
    throw invalid(`${domain} has no expiry`, "Leave it out, or choose another domain.");
  const at = fromInstant(expiresAt);
  if (!Number.isFinite(at))
    throw invalid(`${JSON.stringify(expiresAt)} is no date`, "Write it as 2026-08-01 or 2026-08-01T12:00Z.");
  if (at <= fromInstant(now)) throw invalid(`${toInstant(at)} is past`, "Give a date that is still to come.");
  return toInstant(at);
}

function invalid(message: string, next: string): LilyError {
  return new LilyError("memory_input_invalid", message, { next });
}

const OPENINGS: readonly (readonly [opening: string, domain: PersonalityDomain])[] = [
  ["you are", "persona_core"],
  ["your", "persona_core"],
  ["be", "persona_core"],
  ["speak", "persona_core"],
  ["always", "working_rules"],
  ["never", "working_rules"],
  ["do not", "working_rules"],
  ["when", "working_rules"],
  ["before", "working_rules"],
  ["if", "working_rules"],
];

/**
 * The personality domain of `text` by how it begins, in English, and the opening that gave it; `user_profile` by the rule
 * `default` when it begins like none.
 */
export function decideDomain(text: string): { readonly domain: PersonalityDomain; readonly rule: string } {
  const words = text
    .normalize("NFKC")
    .toLowerCase()
    .replaceAll("’", "'")
    .trim()
    .replace(/^you're\b/u, "you are")
    .replace(/^don't\b/u, "do not")
    .split(/[^\p{L}\p{N}]+/u)
    .join(" ");
  const row = OPENINGS.find(([opening]) => words === opening || words.startsWith(`${opening} `));
  return row === undefined ? { domain: "user_profile", rule: "default" } : { domain: row[1], rule: row[0] };
}
