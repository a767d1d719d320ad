/** What one model call was given: with the receipt of its turn the recipe of its prompt, and why something is not in it. */
import { z } from "zod";

/** What is not given whole, and by which rule. */
export const cutSchema = z.strictObject({
  /** A part of the prompt, or `turns`, `steps` of the tool loop, `results` of tools. */
  what: z.string(),
  /**
   * `share`: over its share of the budget; `room`: the budget leaves no room; `oldest_first`; `collapsed`: tool results as a
   * line; `shortened`; `summary`: told in a summary.
   */
  rule: z.enum(["share", "room", "oldest_first", "collapsed", "shortened", "summary"]),
  /** How many entries, turns, steps or results; 0 where it is not known. */
  count: z.int(),
});

/** Something that is not given whole. */
export type Cut = z.infer<typeof cutSchema>;

/** Turns that were given: of one session, from first to last, and in which form, if not whole. */
export const givenTurnsSchema = z.strictObject({
  sessionId: z.string(),
  from: z.int(),
  to: z.int(),
  as: z.enum(["collapsed", "shortened"]).optional(),
  /** Most tokens of each, where they are shortened. */
  tokens: z.int().optional(),
});

/** Turns that were given. */
export type GivenTurns = z.infer<typeof givenTurnsSchema>;

/** Turns before the first that was given: those of the session itself, and how many of those that it continues. */
export const leftOutSchema = z.strictObject({ from: z.int(), to: z.int(), earlier: z.int().optional() });

/** Turns that were left out. */
export type LeftOut = z.infer<typeof leftOutSchema>;

/** Schema of {@link CallReceipt}. */
export const callReceiptSchema = z.strictObject({
  /** Model reference. */
  model: z.string(),
  budgetTokens: z.int(),
  /** Estimated tokens by part of the prompt. */
  tokens: z.record(z.string(), z.int()),
  /** Older turns, oldest first; absent: the same as in the call before. */
  turns: z.array(givenTurnsSchema).optional(),
  leftOut: leftOutSchema.optional(),
  /** Those that were left out are told in a summary of these turns. */
  summary: z.array(z.strictObject({ sessionId: z.string(), from: z.int(), to: z.int() })).optional(),
  /** The control model that was asked for that summary when this call was planned. */
  summaryBy: z.string().optional(),
  /** The turn's own steps: how many messages they are, and how many steps, from the first, were left out or collapsed. */
  steps: z
    .strictObject({
      messages: z.int(),
      out: z.int(),
      collapsed: z.int(),
      /** Most tokens of each result of the newest one, where they are cut. */
      resultTokens: z.int().optional(),
    })
    .optional(),
  /** Steps with which went back what the model had thought before them; its words are not stored. */
  thoughts: z.int().optional(),
  /** Entries of a part that were given, where not all that the turn's receipt names. */
  given: z.record(z.string(), z.int()).optional(),
  cuts: z.array(cutSchema).optional(),
  /** Tools that were offered. */
  tools: z.int().optional(),
  /** The server had refused a longer prompt. */
  afterTooLong: z.literal(true).optional(),
  /** Tokens of the prompt as the server counted them. */
  counted: z.int().optional(),
  /** Tokens of its answer as the server counted them. */
  written: z.int().optional(),
  /** Hashes of the first message and of all that was sent. */
  beginning: z.string().optional(),
  sent: z.string().optional(),
});

/** What one model call was given. */
export type CallReceipt = z.infer<typeof callReceiptSchema>;

/** Estimated tokens of a call. */
export function tokensIn({ tokens }: Pick<CallReceipt, "tokens">): number {
  return Object.values(tokens).reduce((sum, count) => sum + count, 0);
}

/** The older turns that a turn's last call was given, or its answer without a model. */
export function turnsGiven({
  receipt,
  calls = [],
}: {
  readonly receipt?: { readonly turns: readonly GivenTurns[] } | null | undefined;
  readonly calls?: readonly CallReceipt[] | undefined;
}): readonly GivenTurns[] {
  return calls.length === 0 ? (receipt?.turns ?? []) : turnsOfCall(calls, calls.length - 1);
}

/** The older turns of a call, by its place among the calls of its turn. */
export function turnsOfCall(calls: readonly CallReceipt[], index: number): readonly GivenTurns[] {
  return calls.slice(0, index + 1).findLast(({ turns }) => turns !== undefined)?.turns ?? [];
}
