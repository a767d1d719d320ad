/** What a run on a LangGraph server sends, read as the events of a turn and as its outcome. */
import { z } from "zod";
import { LilyError } from "#src/kernel/errors.ts";
import { contentText } from "#src/turns/langchain-messages.ts";
import type { GraphRunOutcome, TurnEvent } from "#src/turns/runner.ts";
import { turnReplySchema } from "#src/turns/turn-reply.ts";
import { handoffSchema } from "#graphs/session/state.ts";

/** One event of a run's stream. */
export interface RunEvent {
  readonly event: string;
  readonly data: unknown;
}

const resultSchema = z.object({
  reply: turnReplySchema.nullable().optional(),
  handoff: handoffSchema.nullable().optional(),
});

const messageSchema = z.object({
  content: z.unknown(),
  additional_kwargs: z.object({ lily: z.object({ notice: z.boolean().optional() }).optional() }).optional(),
});

/** A piece of an answer: the server gives it the type of a whole message, which has no such list. */
const pieceSchema = messageSchema.extend({ tool_call_chunks: z.array(z.unknown()) });

const toolSchema = z.object({ type: z.literal("tool"), name: z.string() });
const errorSchema = z.object({ error: z.string().optional(), message: z.string().optional() });
const noticesSchema = z.object({
  prepareTurn: z.object({ messages: z.union([messageSchema, z.array(messageSchema)]) }),
});

/** Reads the events of one run in order. */
export interface RunReader {
  /** @throws {LilyError} `turn_failed` for the error that ends a run */
  read(event: RunEvent): void;
  /** How the run ended; `undefined` when it ended before it was done, as one that is cancelled does. */
  outcome(): GraphRunOutcome | undefined;
}

/** Makes a reader that tells `onEvent` what a person who watches is shown. */
export function createRunReader(onEvent: (event: TurnEvent) => void = () => undefined): RunReader {
  let outcome: GraphRunOutcome | undefined;
  return {
    outcome: () => outcome,
    read({ event, data }) {
      // With subgraphs an event would be "messages|…"; this graph has none.
      if (event === "error") throw failure(data);
      if (event === "messages") readToken(data, onEvent);
      if (event === "custom") readTool(data, onEvent);
      if (event !== "updates") return;
      readNotices(data, onEvent);
      // From the steps and not from `values`, whose first one still has the reply of the run before.
      outcome = outcomeOf(data) ?? outcome;
    },
  };
}

function outcomeOf(update: unknown): GraphRunOutcome | undefined {
  if (typeof update !== "object" || update === null) return undefined;
  for (const step of Object.values(update)) {
    const result = resultSchema.safeParse(step);
    if (!result.success) continue;
    const { handoff, reply } = result.data;
    if (handoff !== null && handoff !== undefined) return { kind: "handoff", ...handoff };
    if (reply !== null && reply !== undefined) return { kind: "reply", reply };
  }
  return undefined;
}

function readToken(data: unknown, onEvent: (event: TurnEvent) => void): void {
  const piece = pieceSchema.safeParse(Array.isArray(data) ? data[0] : undefined);
  if (!piece.success) return;
  const text = contentText(piece.data.content);
  if (text !== "") onEvent({ type: "token", text });
}

function readTool(data: unknown, onEvent: (event: TurnEvent) => void): void {
  const tool = toolSchema.safeParse(data);
  if (tool.success) onEvent(tool.data);
}

/** What `prepareTurn` says before the answer. */
function readNotices(data: unknown, onEvent: (event: TurnEvent) => void): void {
  const update = noticesSchema.safeParse(data);
  if (!update.success) return;
  for (const message of [update.data.prepareTurn.messages].flat()) {
    if (message.additional_kwargs?.lily?.notice === true)
      onEvent({ type: "notice", text: contentText(message.content) });
  }
}

function failure(data: unknown): LilyError {
  const { error, message } = errorSchema.safeParse(data).data ?? {};
  return new LilyError(
    "turn_failed",
    `the run failed on the server: ${message ?? error ?? "no reason given"}`,
    {
      next: "Send the message again.",
    },
  );
}
