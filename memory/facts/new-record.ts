/** Makes a record of a fact: where it belongs and what it is by default. Decides only. */
import { fromInstant, toInstant } from "#src/kernel/clock.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { decideDomain } from "../domains/decide-domain.ts";
import type { RecordPlace } from "../namespaces.ts";
import {
  DOMAINS,
  scopeSchema,
  taskSchema,
  type Domain,
  type MemoryRecord,
  type SaidBy,
  type Source,
} from "../record.ts";
import { RETENTION } from "../retention/retention-defaults.ts";
import { slugOf } from "./about.ts";
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
export function placeOf(fact: Pick<Fact, "text" | "domain" | "task" | "scope">): PlacedFact {
  const scope = scopeSchema.safeParse(fact.scope ?? "global");
  if (!scope.success) throw invalid('a scope is "global" or "agent:<name>"', "Name it so, or leave it out.");
  if (fact.domain !== undefined && !DOMAINS.includes(fact.domain))
    throw invalid(`there is no domain ${JSON.stringify(fact.domain)}`, `Domains are ${DOMAINS.join(", ")}.`);
  const isTask = fact.domain === "task_memory" || (fact.domain === undefined && fact.task !== undefined);
  if (isTask) return { domain: "task_memory", task: taskOf(fact.task), scope: scope.data, rule: null };
  if (fact.task !== undefined)
    throw invalid(`${fact.domain} belongs to no task`, "Leave out the task, or the domain.");
  if (fact.domain !== undefined) return { domain: fact.domain, task: null, scope: scope.data, rule: null };
  const { domain, rule } = decideDomain(fact.text);
  return { domain, task: null, scope: scope.data, rule };
}

/**
 * A well-formed task name.
 *
 * @throws {LilyError} `memory_input_invalid`
 */
export function taskOf(task: string | undefined): string {
  if (task === undefined) throw invalid("task memory belongs to a task", "Name it: --task <name>.");
  const parsed = taskSchema.safeParse(task);
  if (parsed.success) return parsed.data;
  throw invalid("a task name has 1 to 200 characters", "Give it a shorter name.");
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
    confidence: fact.confidence ?? confidenceOf(fact.saidBy, fact.source),
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
