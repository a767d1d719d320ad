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

/** A turn by its session and number. */
export interface Place {
  readonly sessionId: string;
  readonly turn: number;
}

/** Whether a turn is one of a range. */
export function isWithin(
  { sessionId, turn }: Place,
  range: Pick<GivenTurns, "sessionId" | "from" | "to">,
): boolean {
  return range.sessionId === sessionId && range.from <= turn && turn <= range.to;
}

/** Turns before the first that was given: those of the session itself, and how many of those that it continues. */
export const leftOutSchema = z.strictObject({ from: z.int(), to: z.int(), earlier: z.int().optional() });

/** Turns that were left out. */
export type LeftOut = z.infer<typeof leftOutSchema>;

/** `turn 3`, `turns 3 to 5`. */
export function rangeText(from: number, to: number): string {
  return from === to ? `turn ${from}` : `turns ${from} to ${to}`;
}

const rangeSchema = z.strictObject({ sessionId: z.string(), from: z.int(), to: z.int() });

/** Schema of {@link CallReceipt}. */
export const callReceiptSchema = z.strictObject({
  /** Model reference. */
  model: z.string(),
  budgetTokens: z.int(),
  /** Estimated tokens by part of the prompt. */
  tokens: z.record(z.string(), z.int()),
  /** Older turns, oldest first. */
  turns: z.array(givenTurnsSchema).optional(),
  leftOut: leftOutSchema.optional(),
  /** Those that were left out are told in a summary of these turns. */
  summary: z.array(rangeSchema).optional(),
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
  /** What else was not given whole; {@link cutsOf} has all. */
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

/** Schema of {@link StoredCall}. */
export const storedCallSchema = callReceiptSchema.extend({
  /** Absent: the same as in the call before. */
  turns: z.array(givenTurnsSchema.partial({ sessionId: true })).optional(),
  summary: z.array(rangeSchema.partial({ sessionId: true })).optional(),
});

/** A call among those of its turn: a range of the turn's own session does not name it, and what repeats is left out. */
export type StoredCall = z.infer<typeof storedCallSchema>;

/** The calls of a turn of session `sessionId` with one more of them. */
export function withCall(
  calls: readonly StoredCall[] = [],
  { turns = [], summary, ...call }: CallReceipt,
  sessionId: string,
): StoredCall[] {
  const before = callsOf(sessionId, calls).at(-1)?.turns;
  const unnamed = <T extends { sessionId?: string | undefined }>({ sessionId: of, ...range }: T) =>
    of === sessionId || of === undefined ? range : { ...range, sessionId: of };
  const stored = {
    ...call,
    ...(JSON.stringify(before) === JSON.stringify(turns) ? {} : { turns: turns.map(unnamed) }),
    ...(summary === undefined ? {} : { summary: summary.map(unnamed) }),
  };
  return [...calls, stored];
}

/** The calls of a turn of session `sessionId`, each whole. */
export function callsOf(sessionId: string, calls: readonly StoredCall[] = []): WholeCall[] {
  const named = <T extends { sessionId?: string | undefined }>(range: T) => ({
    ...range,
    sessionId: range.sessionId ?? sessionId,
  });
  let turns: GivenTurns[] = [];
  return calls.map(({ summary, ...call }) => {
    turns = call.turns?.map(named) ?? turns;
    return { ...call, turns, ...(summary === undefined ? {} : { summary: summary.map(named) }) };
  });
}

/** A call with its older turns. */
export type WholeCall = CallReceipt & { turns: GivenTurns[] };

/** All that a call was not given whole. */
export function cutsOf({ cuts = [], leftOut, summary }: CallReceipt): Cut[] {
  const others = cuts.filter((cut) => !isOut(cut));
  if (leftOut === undefined) return others;
  const { from, to, earlier = 0 } = leftOut;
  const rule = summary === undefined ? "oldest_first" : "summary";
  return [...others, { what: "turns", rule, count: to - from + 1 + earlier }];
}

/** Whether a cut is of the turns that were left out, which `leftOut` and `summary` tell already. */
export function isOut({ what, rule }: Cut): boolean {
  return what === "turns" && (rule === "oldest_first" || rule === "summary");
}

/** Estimated tokens of a call. */
export function tokensIn({ tokens }: Pick<CallReceipt, "tokens">): number {
  return Object.values(tokens).reduce((sum, count) => sum + count, 0);
}

/** The older turns that a turn of session `sessionId` was given by its last call, or for its answer without a model. */
export function turnsGiven(
  sessionId: string,
  {
    receipt,
    calls,
  }: {
    readonly receipt?: { readonly turns?: readonly GivenTurns[] | undefined } | null | undefined;
    readonly calls?: readonly StoredCall[] | undefined;
  },
): readonly GivenTurns[] {
  return callsOf(sessionId, calls).at(-1)?.turns ?? receipt?.turns ?? [];
}
