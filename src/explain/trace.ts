/** The trace of a turn: a graph of what happened in it, with times, tries, tokens and cost, and with what its prompts were made of. */
import { z } from "zod";

/** What a million tokens cost. */
export const priceSchema = z.strictObject({
  /** Of prompts, and of answers. */
  input: z.number().min(0),
  output: z.number().min(0),
  currency: z.string().min(1).max(8).default("USD"),
});

/** The price of a model by its reference; `undefined` where nobody named one. */
export type PriceOf = (model: string) => z.infer<typeof priceSchema> | undefined;

const costSchema = z.strictObject({ amount: z.number(), currency: z.string() });

const nodeSchema = z.strictObject({
  /** Unique in its trace, and the same for the same turn. */
  id: z.string(),
  kind: z.enum(["message", "step", "model", "attempt", "tool", "control", "candidate", "reply"]),
  /** The step of the graph, the model, the tool, or what the candidate is. */
  name: z.string(),
  /** Milliseconds from the beginning of the turn, and how long it took; `null` where it was not measured. */
  startMs: z.int().nullable(),
  ms: z.int().nullable(),
  status: z.enum(["done", "failed", "stopped", "notRun", "given", "partly", "leftOut", "denied"]),
  /** In words, where there is more to say. */
  text: z.string().optional(),
  /** Tokens of a model call: as estimated, and as its server counted those of the prompt and of the answer. */
  tokens: z
    .strictObject({
      estimated: z.int(),
      budget: z.int(),
      counted: z.int().nullable(),
      written: z.int().nullable(),
    })
    .optional(),
  /** Tokens of a control model's question and answer; `null`: nobody counted them. */
  controlTokens: z.int().nullable().optional(),
  /** `null`: unknown, for there is no price, or the server did not count. */
  cost: costSchema.nullable().optional(),
});

const edgeSchema = z.strictObject({
  from: z.string(),
  to: z.string(),
  kind: z.enum(["then", "tries", "calls", "asks", "given", "partly", "leftOut", "denied"]),
  /** Of a candidate: the rule that decided, how well it fits, and how many of its kind. */
  rule: z.string().optional(),
  score: z.number().optional(),
  count: z.int().optional(),
});

/** Schema of {@link Trace}. */
export const traceSchema = z.strictObject({
  v: z.literal(1),
  sessionId: z.string(),
  /** `null`: the turn failed and has no number. */
  turn: z.int().nullable(),
  requestId: z.string(),
  deliveryId: z.string(),
  status: z.enum(["completed", "stopped", "interrupted", "limited", "failed"]),
  /** Code of the failure, or of the command's reply. */
  code: z.string().nullable(),
  startedAt: z.string().nullable(),
  endedAt: z.string(),
  totals: z.strictObject({
    /** From the first step to the last. */
    ms: z.int().nullable(),
    modelCalls: z.int(),
    failedCalls: z.int(),
    toolCalls: z.int(),
    /** Calls of control models, which are not among those above, and their tokens. */
    controlCalls: z.int(),
    controlTokens: z.int().nullable(),
    /** As servers counted them; `null` where one did not. */
    inputTokens: z.int().nullable(),
    outputTokens: z.int().nullable(),
    /** Of the answer's calls alone; `null` where that of one is unknown. */
    cost: costSchema.nullable(),
  }),
  graph: z.strictObject({ nodes: z.array(nodeSchema), edges: z.array(edgeSchema) }),
});

/** The trace of a turn. */
export type Trace = z.infer<typeof traceSchema>;

/** Something that happened in a turn, or a candidate of its prompts. */
export type TraceNode = z.infer<typeof nodeSchema>;

/** How two of them hang together. */
export type TraceEdge = z.infer<typeof edgeSchema>;
