/** The verdict of a rollover decision, with the numbers that made it; stored, shown and explained. */
import { z } from "zod";

const instant = z.string();

export const controlModelSchema = z.strictObject({
  /** Model reference, or `built-in` for the classifier that needs no model. */
  model: z.string(),
  /** Which level of the chain named it. */
  level: z.enum(["session", "agent", "defaults", "built-in"]),
});

/** The model that takes lifecycle decisions, and who chose it. */
export type ControlModel = z.infer<typeof controlModelSchema>;

const rotate = { action: z.literal("rotate") };
const topicNumbers = {
  confidence: z.number(),
  threshold: z.number(),
  /** Turns of the session; of a reversal, those since the rollover that is undone. */
  turns: z.number(),
  decidedBy: controlModelSchema,
};

/** Why a session was ended. */
export const rotateVerdictSchema = z.discriminatedUnion("trigger", [
  z.strictObject({ ...rotate, trigger: z.literal("command"), command: z.string() }),
  z.strictObject({
    ...rotate,
    trigger: z.literal("idle"),
    idleMs: z.number(),
    limitMs: z.number(),
    dueAt: instant,
  }),
  z.strictObject({
    ...rotate,
    trigger: z.literal("dayBoundary"),
    boundaryAt: instant,
    at: z.string(),
    timeZone: z.string(),
    idleMs: z.number(),
    minIdleMs: z.number(),
    dueAt: instant,
  }),
  z.strictObject({ ...rotate, trigger: z.literal("semantic"), confirmations: z.number(), ...topicNumbers }),
  z.strictObject({ ...rotate, trigger: z.literal("reversal"), ...topicNumbers }),
  /** `turns` of this session, which the new one continues. */
  z.strictObject({ ...rotate, trigger: z.literal("replay"), turns: z.number() }),
]);

/** A decision to end the session. */
export type RotateVerdict = z.infer<typeof rotateVerdictSchema>;

export const semanticFindingSchema = z.strictObject({
  /** `off`: not configured. `unknown`: no evidence, or too weak, which means stay. */
  result: z.enum(["off", "tooShort", "unknown", "same", "unconfirmed", "notReversed", "cooldown"]),
  confidence: z.number().optional(),
  /** Messages in a row that changed the topic, of those that have to. */
  confirmed: z.int().optional(),
  decidedBy: controlModelSchema.optional(),
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

export const verdictSchema = z.union([rotateVerdictSchema, stayVerdictSchema]);

export type Verdict = z.infer<typeof verdictSchema>;
