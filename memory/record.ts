/** A memory record: one durable fact with where it came from, how long it holds and what it replaced. */
import { z } from "zod";
import { POLICY_RULE_NAMES } from "./policy/verdict.ts";

/** The four kinds of long-term memory. */
export const DOMAINS = ["persona_core", "user_profile", "working_rules", "task_memory"] as const;
export type Domain = (typeof DOMAINS)[number];

/** The domains of personality memory, in the order in which they are shown. */
export const PERSONALITY_DOMAINS = ["persona_core", "user_profile", "working_rules"] as const;
export type PersonalityDomain = (typeof PERSONALITY_DOMAINS)[number];

/** Whose words a fact is. What an assistant, a tool or a file said never counts as the owner's own support. */
export const SPEAKERS = ["owner", "assistant", "tool", "import"] as const;
export type SaidBy = (typeof SPEAKERS)[number];

/** By which way a fact came in. */
export const SOURCES = ["command", "inference", "import", "system"] as const;
export type Source = (typeof SOURCES)[number];

/** How long a fact is expected to hold. */
export const STABILITIES = ["low", "medium", "medium_high", "high"] as const;
export type Stability = (typeof STABILITIES)[number];

/** Where a fact holds: everywhere, or for one agent. */
export type Scope = "global" | `agent:${string}`;

export const scopeSchema = z.custom<Scope>((value) => typeof value === "string" && isScope(value), {
  error: 'a scope is "global" or "agent:<name>"',
});

function isScope(text: string): boolean {
  const isAgent = text.startsWith("agent:") && text !== "agent:";
  return text === "global" || (isAgent && isStorable(text));
}

/** No database keeps half of a surrogate pair, and PostgreSQL cannot search beside a NUL. */
function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes("\u0000");
}

/** Schema of a task's or project's name, of any script, up to 200 characters. */
export const taskSchema = z.string().min(1).max(200).refine(isStorable, { error: "is not well-formed text" });

/** Schema of a stored instant: ISO 8601 in UTC with milliseconds. */
export const instantSchema = z.iso.datetime({ precision: 3 });

const reviewSchema = z.strictObject({
  /** A pending record stands in the review namespace and is never retrieved. */
  state: z.enum(["pending", "accepted"]),
  /** The policy rule that asked for a review. */
  rule: z.enum(POLICY_RULE_NAMES),
  at: instantSchema,
});

/** Schema of {@link MemoryRecord}; field names are those of the memory specification. */
export const memoryRecordSchema = z.strictObject({
  schema_version: z.literal(1),
  /** Derived from owner, domain, task, scope and the text in comparable form, so that the same fact is the same item. */
  id: z.uuid(),
  domain: z.enum(DOMAINS),
  text: z.string().min(1),
  said_by: z.enum(SPEAKERS),
  source: z.enum(SOURCES),
  /** From 0 to 1. */
  confidence: z.number().min(0).max(1),
  created_at: instantSchema,
  updated_at: instantSchema,
  session_id: z.string().refine(isStorable).nullable(),
  turn: z.int().nonnegative().nullable(),
  scope: scopeSchema,
  /** Task or project; for task memory only. */
  task: taskSchema.nullable(),
  stability: z.enum(STABILITIES),
  expires_at: instantSchema.nullable(),
  /** Last explicit confirmation by the owner; nothing else moves it. */
  last_verified: instantSchema.nullable(),
  /** Marks of the lifecycle job. Reading compares `expires_at` itself and does not wait for the first. */
  expired: z.boolean(),
  archived: z.boolean(),
  verification_due: z.boolean(),
  /** What the fact is about, as a short slug (`home`): a later one about the same in its place supersedes it. See `aboutOf`. */
  conflict_group: z.string().min(1).nullable(),
  supersedes: z.array(z.uuid()),
  superseded_by: z.uuid().nullable(),
  review: reviewSchema.nullable(),
});

/** One durable fact. */
export type MemoryRecord = z.infer<typeof memoryRecordSchema>;

/** The part of an id that people see and type. */
export function shortId(id: string): string {
  return id.slice(0, 8);
}
