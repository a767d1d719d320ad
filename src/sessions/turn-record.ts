/** The record of one committed turn: what history, export, recall and verification read. */
import { z } from "zod";
import { envelopeSchema } from "#src/kernel/envelope.ts";
import { storedCallSchema, givenTurnsSchema } from "./call-receipt.ts";
import { storedUnitSchema, unitPlaceSchema } from "./knowledge-units.ts";
import { messageSchema } from "./message.ts";
import { usedPluginsSchema } from "./plugin-choices.ts";
import { sessionChangesSchema } from "./session-changes.ts";
import { verdictSchema } from "./verdict.ts";

/** How a turn ended; `limited` by one of its own limits, with what there was by then. */
export const turnStatusSchema = z.enum(["completed", "stopped", "interrupted", "limited"]);

/** A limit of a turn that was reached; tokens, and time in milliseconds, may end above it. */
export const reachedLimitSchema = z.strictObject({
  kind: z.enum(["modelCalls", "toolCalls", "tokens", "time", "steps"]),
  used: z.int(),
  limit: z.int(),
});

/** A limit that was reached. */
export type ReachedLimit = z.infer<typeof reachedLimitSchema>;

/** Why a model ended its answer before it was whole. */
const cutSchema = z.enum(["length", "content_filter"]);

/** Why an answer was cut. */
export type Cut = z.infer<typeof cutSchema>;

/**
 * A step of the graph that a turn took: its name, milliseconds from the turn's beginning to its own, how long it took, and
 * whether its tool failed or was not run at all. A tuple, for it is stored with each turn.
 */
export const stepSchema = z.tuple([z.string(), z.int(), z.int(), z.enum(["failed", "notRun"]).optional()]);

/** A step of a turn. */
export type Step = z.infer<typeof stepSchema>;

/** Newest steps of a turn that are kept; its limits allow no more in one run. */
export const MAX_STEPS = 100;

/** A call of a model that failed; another attempt or another model may have answered after it. */
export const failedAttemptSchema = z.strictObject({
  /** Model reference. */
  model: z.string(),
  /** What kind of failure it was, e.g. `rate_limit`. */
  kind: z.string(),
  at: z.string(),
  /** Which model call of the turn it was a try of, from 1; absent: the first. */
  call: z.int().optional(),
});

/** A failed call. */
export type FailedAttempt = z.infer<typeof failedAttemptSchema>;

/** Rules by which a candidate may not be given, whatever room there is: a review that it waits for, a setting, its phase scopes. */
const DENYING = ["review", "off", "phase"] as const;

/** Whether a candidate was kept out by policy. */
export function isDenied([, , rule]: LeftCandidate): boolean {
  return DENYING.some((denying) => denying === rule);
}

/**
 * A candidate that was looked at and not given: what it is, the beginning of its id (of a passage behind its number, of a unit its
 * place, of memory as a whole `""`), the rule, and how well it fitted. `room`: its part is full; `weak`: it fits worse than
 * others; `most`: enough are given.
 */
export const leftCandidateSchema = z.tuple([
  z.enum(["fact", "passage", "unit", "memory"]),
  z.string(),
  z.enum(["room", "weak", "most", ...DENYING]),
  z.number().optional(),
]);

/** A candidate that was not given. */
export type LeftCandidate = z.infer<typeof leftCandidateSchema>;

/** Most of each kind that are named, the best ones. */
export const MAX_LEFT = 4;

/** What a model was given in all calls of a turn; their receipts tell the rest of the recipe of its prompts. */
export const receiptSchema = z.strictObject({
  budgetTokens: z.int(),
  /** Local date and minute that the prompt tells, and their IANA zone; absent in records of earlier versions. */
  localTime: z.string().optional(),
  timeZone: z.string().optional(),
  /** The turn of another session from which a hand-over note was made. */
  handover: z.strictObject({ sessionId: z.string(), turn: z.int() }).optional(),
  /** Estimated tokens by part of the prompt; where models were called their receipts tell that, and `turns` and `summary`. */
  tokens: z.record(z.string(), z.int()).optional(),
  /** Sessions whose turns were given, oldest first, with the first and last turn number. */
  turns: z.array(givenTurnsSchema).optional(),
  /** Turns that were told in a summary, before those. */
  summary: z.array(z.strictObject({ sessionId: z.string(), from: z.int(), to: z.int() })).optional(),
  /** What was repaired in the copy that was sent last, by kind. */
  repairs: z.record(z.string(), z.int()).optional(),
  /** Entries of the ledger that were given, by their numbers. */
  ledger: z.array(z.int()).optional(),
  /** Remembered facts that were given, by the id of their record, and why: it fits what was said, or is given always. */
  memory: z
    .array(
      z.strictObject({
        id: z.string(),
        score: z.number().optional(),
        because: z.enum(["fits", "always"]).optional(),
        /** It is given whatever is said, in the beginning of the prompt. */
        always: z.literal(true).optional(),
      }),
    )
    .optional(),
  /** Knowledge units that were given: `fits` what was said, or `holds` whatever is said. */
  units: z
    .array(unitPlaceSchema.extend({ because: z.enum(["fits", "holds"]), score: z.number().optional() }))
    .optional(),
  /** Passages of evidence that were given, by document, its version, and place among its pieces. */
  evidence: z
    .array(
      z.strictObject({
        sourceId: z.string(),
        version: z.string(),
        piece: z.int(),
        score: z.number().optional(),
        /** Its knowledge base, where that is not the default one. */
        kb: z.string().optional(),
      }),
    )
    .optional(),
  /** The best candidates that were not given. */
  left: z.array(leftCandidateSchema).optional(),
});

/** What the model was given. */
export type Receipt = z.infer<typeof receiptSchema>;

/** What an answer without a model rests on, by its place: nothing of its text. */
export const answerSourceSchema = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("turn"), sessionId: z.string(), turn: z.int() }),
  /** A remembered fact, by the id of its record. */
  z.strictObject({ kind: z.literal("fact"), id: z.string() }),
  /** A knowledge unit. */
  z.strictObject({ kind: z.literal("unit"), ...unitPlaceSchema.shape }),
  /** A passage of a document. */
  z.strictObject({ kind: z.literal("evidence"), sourceId: z.string(), version: z.string(), piece: z.int() }),
]);

/** What an answer rests on. */
export type AnswerSource = z.infer<typeof answerSourceSchema>;

/** A call of a control model beside the answer's. */
export const controlCallSchema = z.strictObject({
  /** What it was asked: has the topic changed, what to look for, what to note, a summary of older turns. */
  what: z.enum(["topic", "plan", "units", "summary"]),
  /** Model reference. */
  model: z.string(),
  /** ISO instant at which it was asked, and how long it was waited for. */
  at: z.string(),
  ms: z.int(),
  /** Of question and answer, where the server counted them. */
  tokens: z.int().optional(),
  /** Why nothing came of it. */
  why: z.string().optional(),
});

/** A call of a control model. */
export type ControlCall = z.infer<typeof controlCallSchema>;

/** Schema of {@link ApprovalRecord}. */
export const approvalRecordSchema = z.strictObject({
  /** Under which it was answered. */
  id: z.string(),
  /** Of the call in the model's message. */
  callId: z.string(),
  tool: z.string(),
  /** `closed`: another message came, or the conversation was ended, before anybody answered. */
  decision: z.enum(["approve", "edit", "reject", "closed"]),
  /** And all further calls of that tool in this session. */
  always: z.literal(true).optional(),
});

/** What a person decided on a call of a tool. */
export type ApprovalRecord = z.infer<typeof approvalRecordSchema>;

/** Why a turn went as it went. */
export const explanationSchema = z.strictObject({
  requestId: z.string(),
  verdict: verdictSchema.optional(),
  /** Model reference or `symbolic`. */
  solver: z.string().optional(),
  receipt: receiptSchema.optional(),
  /** What prepared it, where somebody chose it or it took another one's place. */
  plugins: usedPluginsSchema.optional(),
  /** What it looked for, where that was not the message. */
  lookedFor: z.array(z.string()).optional(),
  /** Each model call of it that was answered, in order. */
  calls: z.array(storedCallSchema).optional(),
  /** Calls of control models beside those, in the order in which they ended. */
  controlCalls: z.array(controlCallSchema).optional(),
  /** Pieces of sealed sessions that were read in this turn, and why. */
  recalled: z
    .array(
      z.strictObject({
        sessionId: z.string(),
        turn: z.int(),
        at: z.string(),
        score: z.number(),
        rationale: z.string(),
      }),
    )
    .optional(),
  /** Who took the knowledge units from what was said: a model, or `sentences`; what that cost, and why there are none. */
  extracted: z
    .strictObject({
      by: z.string(),
      tokens: z.int().optional(),
      why: z.string().optional(),
      /** Rules by which the policy gate refused some of them, one a unit. */
      denied: z.array(z.string()).optional(),
    })
    .optional(),
  /** What the answer rests on that was found without a model, the quoted one first. */
  sources: z.array(answerSourceSchema).optional(),
  /** What people decided on its calls of tools, in order. */
  approvals: z.array(approvalRecordSchema).optional(),
  /** The limit that ended it. */
  limit: reachedLimitSchema.optional(),
  /** Why the model's answer is not whole. */
  cut: cutSchema.optional(),
  /** The newest calls of models that failed in it, oldest first. */
  attempts: z.array(failedAttemptSchema).optional(),
  /** Steps that it took, without the one that stored it. */
  steps: z.array(stepSchema).optional(),
});

/** Explanation of a turn. */
export type Explanation = z.infer<typeof explanationSchema>;

/** A delivery that was answered together with others. */
export const collectedSchema = z.strictObject({
  deliveryId: z.string(),
  /** As the turn's own `textHash`: of the text of this delivery alone. */
  textHash: z.string(),
});

/** What the caller was told, kept so that a repeated delivery is told the same. */
const storedReplySchema = z.strictObject({
  /** The announcement of a rollover that happened by itself, shown before the answer. */
  announcement: z.string().optional(),
  /** Envelope of a command; absent for an answer, whose text is the last assistant message. */
  envelope: envelopeSchema.optional(),
  /** Text before the answer that is not part of the conversation, e.g. that no model is configured. */
  notice: z.string().optional(),
});

const body = {
  v: z.literal(1),
  sessionId: z.string(),
  /** Position in the session, from 1. */
  turn: z.int().min(1),
  kind: z.enum(["chat", "command"]),
  status: turnStatusSchema,
  deliveryId: z.string(),
  /** SHA-256 (base64url, 22 characters) of the text as it was delivered. */
  textHash: z.string(),
  /** Deliveries that arrived after the first one and were answered with it, in order; `textHash` is of the first alone. */
  collected: z.array(collectedSchema).optional(),
  at: z.string(),
  messages: z.array(messageSchema),
  /** What it says that may be used again. */
  units: z.array(storedUnitSchema).optional(),
  /** What a command changed in the session. */
  changes: sessionChangesSchema.optional(),
  reply: storedReplySchema,
  explanation: explanationSchema,
};

/** Schema of {@link TurnBody}. */
export const turnBodySchema = z.strictObject(body);

/** A committed turn without its place in the hash chain. */
export type TurnBody = z.infer<typeof turnBodySchema>;

/** Schema of {@link TurnRecord}. */
export const turnRecordSchema = z.strictObject({
  ...body,
  /** Random text hashed with the body, so that a leaf tells nothing of a body that was erased. */
  salt: z.string(),
  /** Hash of salt and body. */
  leaf: z.string(),
  /** Hash of the head before this turn and this leaf. */
  head: z.string(),
});

/** A committed turn as it is stored. */
export type TurnRecord = z.infer<typeof turnRecordSchema>;
