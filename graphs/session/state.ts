/** The state of the session graph: the only file that names its channels. */
import type { BaseMessage } from "@langchain/core/messages";
import { ReducedValue, StateSchema } from "@langchain/langgraph";
import { z } from "zod";
import { attachmentSchema } from "#src/sessions/message.ts";
import { knowledgeUnitSchema } from "#src/sessions/knowledge-units.ts";
import { ledgerChangeSchema } from "#src/sessions/ledger.ts";
import { callReceiptSchema, storedCallSchema } from "#src/sessions/call-receipt.ts";
import { sessionChangesSchema } from "#src/sessions/session-changes.ts";
import { sessionFieldsSchema } from "#src/sessions/session-fields.ts";
import {
  collectedSchema,
  explanationSchema,
  failedAttemptSchema,
  reachedLimitSchema,
  receiptSchema,
  turnStatusSchema,
} from "#src/sessions/turn-record.ts";
import { verdictSchema } from "#src/sessions/verdict.ts";
import { turnReplySchema } from "#src/turns/turn-reply.ts";
import { asSent, reduceMessages, type MessagesUpdate } from "./messages.ts";

/** The turn in flight: everything that an interrupt or a crash needs to go on from. */
export const turnInFlightSchema = z.strictObject({
  deliveryId: z.string(),
  requestId: z.string(),
  /** Hash of the text as it was delivered. */
  textHash: z.string(),
  /** Deliveries that are answered with this one; their texts follow its own. */
  collected: z.array(collectedSchema).optional(),
  /** What is answered: the delivered text, less a command that was carried out already. */
  text: z.string(),
  /** What the message carries beside its text. */
  attachments: z.array(attachmentSchema).optional(),
  startedAt: z.string(),
  /** Number that the turn will have in the transcript. */
  number: z.int(),
  /** Id of its first message in `messages`; all from there on are its own. */
  firstMessageId: z.string(),
  command: z.strictObject({ name: z.string(), args: z.string(), rotates: z.boolean() }).nullable(),
  /** Outcome of a command, with the changes that its commit makes. */
  outcome: z
    .strictObject({
      envelope: turnReplySchema.shape.envelope,
      changes: sessionChangesSchema.optional(),
    })
    .nullable(),
  /** Legacy mode: its commit clears the working set in place. */
  clears: z.literal(true).optional(),
  /** Its run had too few steps for it: it is answered with the next message. */
  waits: z.literal(true).optional(),
  announcement: z.string().nullable(),
  notice: z.string().nullable(),
  recalled: explanationSchema.shape.recalled.unwrap(),
  solver: z.string().nullable(),
  receipt: receiptSchema.nullable(),
  /** What prepared it, and what it looked for, as far as that is told. */
  plugins: explanationSchema.shape.plugins,
  lookedFor: explanationSchema.shape.lookedFor,
  /** What stays mounted of the knowledge bases, where some are gone. */
  kbs: z.array(z.string()).optional(),
  /** What the next model call is to be given, as far as it is planned. */
  plan: callReceiptSchema.optional(),
  /** What each model call that was answered was given. */
  calls: z.array(storedCallSchema).optional(),
  /** Calls of control models beside those. */
  controlCalls: explanationSchema.shape.controlCalls,
  /** What an answer without a model rests on. */
  sources: explanationSchema.shape.sources,
  status: turnStatusSchema,
  /** Units for the commit, and who took them. */
  stagedUnits: z.array(knowledgeUnitSchema),
  extracted: explanationSchema.shape.extracted,
  /** What its model noted in the ledger, for the commit. */
  ledger: z.array(ledgerChangeSchema).optional(),
  /** What people decided on its calls of tools. */
  approvals: explanationSchema.shape.approvals,
  modelCalls: z.int(),
  /** What it has used of its budgets beside model calls; of tools and models alone, not of the time it waited. */
  spent: z.strictObject({ toolCalls: z.int(), tokens: z.int(), ms: z.int() }).optional(),
  /** The step of its thread, as LangGraph counts them, at which its run began. */
  firstStep: z.int().optional(),
  /** The limit that it has reached: the answer is all that comes. */
  limit: reachedLimitSchema.optional(),
  /** Why the model's answer is not whole. */
  cut: explanationSchema.shape.cut,
  attempts: z.array(failedAttemptSchema).optional(),
  steps: explanationSchema.shape.steps,
});

/** The turn in flight. */
export type TurnInFlight = z.infer<typeof turnInFlightSchema>;

/** A command that changes nothing: it runs beside whatever turn is in flight. */
const readSchema = z.strictObject({
  deliveryId: z.string(),
  messageId: z.string(),
  name: z.string(),
  args: z.string(),
});

/** Which messages of `messages` belong to which committed turn, oldest first; to turn 0 those that stand beside the turns. */
export const windowSchema = z.array(
  z.strictObject({
    turn: z.int(),
    messageIds: z.array(z.string()),
    characters: z.int(),
    /** Of what stands beside the turns. */
    deliveryId: z.string().optional(),
    /** Only its begin is left. */
    isCut: z.literal(true).optional(),
  }),
);

/** A message that another session has to answer. */
export const handoffSchema = z.strictObject({
  sessionId: z.string(),
  /** `content`: text, or with attachments the parts of a message that refers to them. */
  message: z.strictObject({
    id: z.string(),
    content: z.union([z.string(), z.array(z.record(z.string(), z.unknown()))]),
  }),
});

const messagesOf = (inputSchema: z.ZodType<MessagesUpdate>) =>
  new ReducedValue(
    z.custom<BaseMessage[]>().default(() => []),
    {
      inputSchema,
      reducer: reduceMessages,
      jsonSchemaExtra: {
        langgraph_type: "messages",
        description: "Send one user message; its id is the delivery id",
      },
    },
  );
const messages = messagesOf(z.custom<MessagesUpdate>());

export const SessionState = new StateSchema({
  /** The newest committed turns, the turn in flight, and notices; for clients. History is the transcript. */
  messages,
  session: sessionFieldsSchema.nullable().default(null),
  turn: turnInFlightSchema.nullable().default(null),
  /** The command of this run that changes nothing. */
  read: readSchema.nullable().default(null),
  window: windowSchema.default(() => []),
  /** The latest rollover decision. */
  verdict: verdictSchema.nullable().default(null),
  /** What the caller is told; of the latest run. */
  reply: turnReplySchema.nullable().default(null),
  /** Set when another session has to answer; of the latest run. */
  handoff: handoffSchema.nullable().default(null),
});

/** What the latest run has told; a run begins without it. */
const TOLD = { reply: null, handoff: null };

/** What a caller sends; marked as such, for `updateState` writes to the same channel. */
const sent = {
  messages: messagesOf(z.custom<MessagesUpdate>().transform(asSent)),
  reply: z.null().default(null),
  handoff: z.null().default(null),
};

class RunInput extends StateSchema<typeof sent> {
  override async validateInput<T>(data: T): Promise<T> {
    const isEmpty = typeof data !== "object" || data === null || Object.keys(data).length === 0;
    return super.validateInput(isEmpty ? data : { ...data, ...TOLD });
  }

  /** What a caller may send, as Studio offers it. */
  override getInputJsonSchema(): ReturnType<StateSchema<typeof sent>["getInputJsonSchema"]> {
    return new StateSchema({ messages: sent.messages }).getInputJsonSchema();
  }
}

export const SessionInput: StateSchema<typeof sent> = new RunInput(sent);

/** What a caller gets back. */
export const SessionOutput = new StateSchema({
  messages,
  reply: turnReplySchema.nullable().default(null),
  handoff: handoffSchema.nullable().default(null),
});

/** Values of the state. */
export type SessionStateValues = typeof SessionState.State;

/** A node's change to the state. */
export type SessionUpdate = typeof SessionState.Update;

/** Run-scoped settings that a caller may give; never stored. */
export const sessionContextSchema = z.object({
  /** Routing bucket of the conversation. Without it the thread is its own key. */
  sessionKey: z
    .string()
    .optional()
    .describe("Routing bucket, e.g. cli:main. Without it the thread is its own."),
  /** Whose data it is. A server takes the authenticated identity instead. */
  owner: z.string().optional().describe("Whose data it is; a server uses the authenticated identity instead"),
  /** The caller starts the run on the session that a hand-off names. Without it a server enqueues that run. */
  followsHandoff: z.boolean().optional().describe("Set by callers that start the handed-off run themselves"),
  /** The lease under which this run may write, and the deliveries of which its message is made if more than one. */
  fence: z
    .object({
      lockName: z.string(),
      token: z.number(),
      collected: z.object({ textHash: z.string(), others: z.array(collectedSchema) }).optional(),
      erased: turnReplySchema.shape.envelope.optional(),
    })
    .optional()
    .describe("Set by runTurn; not for callers"),
});

/** Run-scoped settings. */
export type SessionContext = z.infer<typeof sessionContextSchema>;
