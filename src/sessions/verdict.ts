/** The verdict of a rollover decision, with the numbers that made it; stored, shown and explained. */
import { z } from "zod";

const instant = z.string();

/** Why a session was ended. */
export const rotateVerdictSchema = z.discriminatedUnion("trigger", [
  z.strictObject({ action: z.literal("rotate"), trigger: z.literal("command"), command: z.string() }),
  z.strictObject({
    action: z.literal("rotate"),
    trigger: z.literal("idle"),
    idleMs: z.number(),
    limitMs: z.number(),
    dueAt: instant,
  }),
  z.strictObject({
    action: z.literal("rotate"),
    trigger: z.literal("dayBoundary"),
    boundaryAt: instant,
    at: z.string(),
    timeZone: z.string(),
    idleMs: z.number(),
    minIdleMs: z.number(),
    dueAt: instant,
  }),
  z.strictObject({
    action: z.literal("rotate"),
    trigger: z.literal("semantic"),
    confidence: z.number(),
    threshold: z.number(),
    turns: z.number(),
    confirmations: z.number(),
    decidedBy: z.string(),
  }),
]);

/** A decision to end the session. */
export type RotateVerdict = z.infer<typeof rotateVerdictSchema>;

/** Schema of {@link SemanticFinding}. */
export const semanticFindingSchema = z.strictObject({
  /** `off`: not configured. `unknown`: no usable evidence, which means stay. */
  result: z.enum(["off", "tooShort", "unknown", "same", "belowThreshold", "unconfirmed", "cooldown"]),
  confidence: z.number().optional(),
  why: z.string().optional(),
});

/** What the change-of-topic check found when it did not end the session. */
export type SemanticFinding = z.infer<typeof semanticFindingSchema>;

/** Why a session goes on. */
export const stayVerdictSchema = z.strictObject({
  action: z.literal("stay"),
  /** `empty`: no committed turn yet. `clockBehind`: the clock is before the stored time, so the age counts as 0. */
  reason: z.enum(["empty", "withinWindow", "clockBehind", "off"]),
  idleMs: z.number(),
  limitMs: z.number().optional(),
  /** When the next temporal rollover is due, if one is. */
  dueAt: instant.optional(),
  semantic: semanticFindingSchema.optional(),
});

/** A decision to go on in the session. */
export type StayVerdict = z.infer<typeof stayVerdictSchema>;

/** Schema of {@link Verdict}. */
export const verdictSchema = z.union([rotateVerdictSchema, stayVerdictSchema]);

/** A rollover decision. */
export type Verdict = z.infer<typeof verdictSchema>;
