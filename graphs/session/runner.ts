/** Runs the compiled graph for `runTurn`: from a message to a reply or a hand-off, with events on the way. */
import { AIMessageChunk, HumanMessage } from "@langchain/core/messages";
import { Command } from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import { errorMessage, LilyError } from "#src/kernel/errors.ts";
import { sessionFieldsSchema } from "#src/sessions/session-fields.ts";
import { approvalIn, waitingEnvelope } from "#src/tools/approval.ts";
import { contentText } from "#src/turns/langchain-messages.ts";
import type { GraphRun, GraphRunOutcome, SessionRunner, TurnEvent } from "#src/turns/runner.ts";
import { refusal } from "#src/turns/turn-reply.ts";
import type { CompiledSessionGraph } from "./graph.ts";
import type { SessionStateValues } from "./state.ts";

/** What nodes say by themselves on the way. */
const eventSchema = z.union([
  z.object({ type: z.literal("tool"), name: z.string() }),
  z.object({ type: z.literal("notice"), text: z.string() }),
]);

/** Makes the runner of a graph, which is compiled for the first run; `checkpointer` is the one that it has. */
export function createSessionRunner(
  compile: () => CompiledSessionGraph,
  checkpointer: BaseCheckpointSaver,
): SessionRunner {
  return {
    run: (request) => run(compile(), request),
    async readSession(threadId) {
      const tuple = await checkpointer.getTuple({ configurable: { thread_id: threadId } });
      return sessionFieldsSchema.safeParse(tuple?.checkpoint.channel_values["session"]).data;
    },
  };
}

async function run(graph: CompiledSessionGraph, request: GraphRun): Promise<GraphRunOutcome> {
  let last: Result | undefined;
  if (request.resume !== undefined) await requireWaiting(graph, request);
  try {
    for await (const [mode, part] of await streamOf(graph, request)) {
      if (mode === "values") last = part as Result;
      else if (request.onEvent !== undefined) emit(mode, part, request.onEvent);
    }
  } catch (error) {
    // LangGraph does not say of what a run was aborted.
    request.signal?.throwIfAborted();
    const outcome = decided(last);
    // What is committed stands, whatever becomes of its checkpoint. A question that waits lives in the checkpoint alone.
    if (outcome === undefined) throw error;
    return { ...outcome, unstored: errorMessage(error) };
  }
  return decided(last) ?? waiting(last, request) ?? undecided(last);
}

/** @throws {LilyError} `turn_conflict` when the thread has nothing that waits */
async function requireWaiting(graph: CompiledSessionGraph, { threadId }: GraphRun): Promise<void> {
  const { tasks } = await graph.getState({ configurable: { thread_id: threadId } });
  if (tasks.some(({ interrupts }) => interrupts.length > 0)) return;
  throw new LilyError(
    "turn_conflict",
    "the question is there, and the checkpoint in which its turn waits is not",
    {
      next: "Nothing was run. Send the message again with the same delivery id, and it is asked again.",
    },
  );
}

/** Pairs of a mode and its part, as LangGraph gives them with a list of modes. */
async function streamOf(
  graph: CompiledSessionGraph,
  request: GraphRun,
): Promise<AsyncIterable<[mode: string, part: unknown]>> {
  const { owner, sessionKey, fence, signal, resume } = request;
  return graph.stream(resume === undefined ? { messages: [messageOf(request)] } : new Command({ resume }), {
    configurable: { thread_id: request.threadId },
    context: { owner, sessionKey, followsHandoff: true, fence },
    // One checkpoint a run: what must not be done twice stands in the Store.
    durability: "exit",
    // Whoever does not listen is told the end alone.
    streamMode: request.onEvent === undefined ? ["values"] : ["messages", "custom", "values"],
    // Above what the limits of a turn allow: each call of a tool is a step, and so is one that is refused.
    recursionLimit: 400,
    ...(signal === undefined ? {} : { signal }),
  });
}

function messageOf({ message }: GraphRun): HumanMessage {
  // Content is checked in the graph; a client may have sent anything.
  return new HumanMessage({ id: message.id, content: message.content as string });
}

/** Each field was checked as it was written. */
type Result = Partial<Pick<SessionStateValues, "reply" | "handoff">>;

/** How a run has ended, once its values say so. */
function decided(values: Result | undefined): GraphRunOutcome | undefined {
  const { reply, handoff } = values ?? {};
  if (handoff !== null && handoff !== undefined) return { kind: "handoff", ...handoff };
  return reply === null || reply === undefined ? undefined : { kind: "reply", reply };
}

/** The run waits for a person's word on a call of a tool. */
function waiting(values: unknown, { threadId, message }: GraphRun): GraphRunOutcome | undefined {
  const interrupts = z.object({ __interrupt__: z.array(z.object({ value: z.unknown() })) }).safeParse(values);
  const approval = approvalIn(interrupts.data?.__interrupt__[0]?.value);
  if (approval === undefined) return undefined;
  const where = { sessionId: threadId, deliveryId: message.id };
  return { kind: "reply", reply: { ...refusal(waitingEnvelope(approval), where), outcome: "failed" } };
}

function undecided(values: Result | undefined): never {
  if (isWaiting(values))
    throw new LilyError("turn_waiting", "a tool waits for a person's decision, which cannot be given here", {
      next: "Resume the thread with a LangGraph client, or send another message: the tool then counts as not approved.",
    });
  throw new LilyError("internal", "the run ended without a reply", { next: "Send the message again." });
}

function isWaiting(values: unknown): boolean {
  return typeof values === "object" && values !== null && "__interrupt__" in values;
}

function emit(mode: string, payload: unknown, onEvent: (event: TurnEvent) => void): void {
  if (mode === "messages" && Array.isArray(payload)) emitToken(payload[0], onEvent);
  if (mode !== "custom") return;
  const event = eventSchema.safeParse(payload);
  if (event.success) onEvent(event.data);
}

function emitToken(message: unknown, onEvent: (event: TurnEvent) => void): void {
  if (!AIMessageChunk.isInstance(message)) return;
  const text = contentText(message.content);
  if (text !== "") onEvent({ type: "token", text });
}
