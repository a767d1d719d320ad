/** The rules by which a session ends, as configuration; which of them hold for one session, and which model is asked about topics. */
import ms from "ms";
import { z } from "zod";
import { defined } from "#src/kernel/json.ts";
import { isTimeZone } from "#src/kernel/clock.ts";
import type { ControlModel } from "./verdict.ts";

/** Ten years: longer than any conversation waits, and within what a date can hold. */
const LONGEST_MS = 3_650 * 86_400_000;

/** Milliseconds as a number, or text with a unit: `90s`, `10m`, `12h`, `2d`. At most ten years. */
const durationMs = z.union([z.number(), z.string()]).transform((value, context) => {
  const parsed = typeof value === "number" ? value : parseDuration(value);
  if (parsed >= 0 && parsed <= LONGEST_MS) return parsed;
  context.addIssue({
    code: "custom",
    message: `${JSON.stringify(value)} is not a duration such as 90s, 10m, 12h or 2d, of at most ten years`,
  });
  return z.NEVER;
});

/** A conversation must have time to go on: at least a second. */
const idleLimitMs = durationMs.refine((limit) => limit >= 1_000, { error: "is shorter than a second" });

/** A person waits for this. */
const deadlineMs = durationMs.refine((limit) => limit >= 100 && limit <= 60_000, {
  error: "is not between 100ms and 60s",
});

/** `NaN` for a text without a unit, which would be read as milliseconds by `ms` and as hours by a person. */
function parseDuration(text: string): number {
  return /^\s*\d+(?:\.\d+)?\s*[a-z]+\s*$/iu.test(text) ? ms(text.trim() as ms.StringValue) : Number.NaN;
}

const localTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/u, "use HH:MM, e.g. 04:00");

/** An IANA time zone name. */
export const timeZoneSchema = z
  .string()
  .refine(isTimeZone, { error: "is not an IANA time zone such as Europe/Paris" });

const wholeSchema = z.strictObject({
  /** Zone in which the day boundary is read. */
  timeZone: timeZoneSchema,
  idle: z.strictObject({
    enabled: z.boolean(),
    /** A session ends when it has had no committed turn for this long. */
    limit: idleLimitMs,
  }),
  dayBoundary: z.strictObject({
    enabled: z.boolean(),
    at: localTime,
    /** A conversation that is active at the boundary goes on until it has been idle for this long. 0 is strict. */
    minIdle: durationMs,
  }),
  semantic: z.strictObject({
    enabled: z.boolean(),
    /** Committed turns that a session must have before a change of topic may end it. */
    minTurns: z.int().min(1),
    /** Confidence (0 to 1) that a verdict of the classifier must reach. */
    threshold: z.number().min(0).max(1),
    /** Messages in a row that must each reach the threshold. */
    confirmations: z.int().min(1),
    /** No second change-of-topic rollover within this time. */
    cooldown: durationMs,
    /** Longest time that the check may hold up a reply; without a word by then, the session goes on. */
    deadline: deadlineMs,
  }),
  reversal: z.strictObject({
    /** Turns after a change-of-topic rollover within which it is undone by itself; 0 is never. */
    turns: z.int().min(0).max(10),
  }),
  /** What a new session is given of the one before it. */
  handover: z.enum(["none", "brief"]),
});

/** The rules that hold for one session; durations in milliseconds. */
export type RolloverPolicy = z.infer<typeof wholeSchema>;

const { idle, dayBoundary, semantic, reversal } = wholeSchema.shape;

/** Schema of {@link RolloverOverrides}: any part of a policy. */
export const rolloverOverridesSchema = wholeSchema
  .extend({
    idle: idle.partial(),
    dayBoundary: dayBoundary.partial(),
    semantic: semantic.partial(),
    reversal: reversal.partial(),
  })
  .partial();

/** Parts of a policy that replace the same parts of a more general one. */
export type RolloverOverrides = z.infer<typeof rolloverOverridesSchema>;

const DEFAULTS: RolloverPolicy = {
  timeZone: "UTC",
  idle: { enabled: true, limit: 12 * 3_600_000 },
  dayBoundary: { enabled: true, at: "04:00", minIdle: 10 * 60_000 },
  semantic: {
    enabled: false,
    minTurns: 3,
    threshold: 0.8,
    confirmations: 1,
    cooldown: 30 * 60_000,
    deadline: 3_000,
  },
  reversal: { turns: 2 },
  handover: "none",
};

/** The policy of which some parts are given; the others are as the design has them. */
export function wholePolicy(given: RolloverOverrides): RolloverPolicy {
  return withOverrides(DEFAULTS, given);
}

/** Where the parts of a policy come from, most general first. */
export interface PolicySources {
  readonly base: RolloverPolicy;
  /** By prefix of the session key; the longest that fits comes last. */
  readonly byKeyPrefix: readonly {
    readonly prefix: string;
    readonly rollover?: RolloverOverrides | undefined;
  }[];
  readonly byAgent: Readonly<Record<string, RolloverOverrides | undefined>>;
}

/** How sessions end: by rotation, or never, and `/new` clears the context in place. */
export type LifecycleMode = "segmented" | "legacy";

/** Which session a policy is asked for. */
export interface PolicySubject {
  readonly sessionKey: string;
  readonly agent: string;
  readonly session?: RolloverOverrides | undefined;
  /** The thread was addressed without a session key and is its own key: nothing ends it but a command. */
  readonly ownKey: boolean;
  /** `segmented` by default. */
  readonly mode?: LifecycleMode;
}

/** The policy of one session: base, then key prefixes (shortest first), agent, session; the last word wins. */
export function resolvePolicy(sources: PolicySources, subject: PolicySubject): RolloverPolicy {
  const prefixes = sources.byKeyPrefix
    .filter(({ prefix }) => subject.sessionKey.startsWith(prefix))
    .toSorted((a, b) => a.prefix.length - b.prefix.length);
  const base = subject.ownKey ? withoutAutomaticRollover(sources.base) : sources.base;
  const layers = [
    ...(subject.ownKey ? [] : prefixes.map(({ rollover }) => rollover)),
    ...(subject.ownKey ? [] : [sources.byAgent["defaults"], sources.byAgent[subject.agent]]),
    subject.session,
  ];
  const policy = layers.reduce<RolloverPolicy>(
    (before, layer) => (layer === undefined ? before : withOverrides(before, layer)),
    base,
  );
  return subject.mode === "legacy" ? withoutAutomaticRollover(policy) : policy;
}

function withoutAutomaticRollover(policy: RolloverPolicy): RolloverPolicy {
  return {
    ...policy,
    idle: { ...policy.idle, enabled: false },
    dayBoundary: { ...policy.dayBoundary, enabled: false },
    semantic: { ...policy.semantic, enabled: false },
  };
}

/** The policy with the parts that `layer` has replaced. */
export function withOverrides(policy: RolloverPolicy, layer: RolloverOverrides): RolloverPolicy {
  return {
    ...policy,
    ...defined(layer),
    idle: { ...policy.idle, ...defined(layer.idle ?? {}) },
    dayBoundary: { ...policy.dayBoundary, ...defined(layer.dayBoundary ?? {}) },
    semantic: { ...policy.semantic, ...defined(layer.semantic ?? {}) },
    reversal: { ...policy.reversal, ...defined(layer.reversal ?? {}) },
  };
}

/** Name of the classifier that needs no model. */
export const BUILT_IN = "built-in";

/** What each level names; a level that names nothing is passed over. */
export interface ControlModelSources {
  readonly session?: string | undefined;
  readonly agent?: string | undefined;
  readonly defaults?: string | undefined;
}

/** The control model and the level that named it. The reply model plays no part. */
export function resolveControlModel(sources: ControlModelSources): ControlModel {
  for (const level of ["session", "agent", "defaults"] as const) {
    const model = sources[level];
    if (model !== undefined) return { model, level };
  }
  return { model: BUILT_IN, level: "built-in" };
}
