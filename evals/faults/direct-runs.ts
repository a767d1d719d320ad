/** One message to a subject, and the ways past `runTurn` by which clients of LangGraph send: a decision, a fork from an old checkpoint. */
import { Command } from "@langchain/langgraph";
import type { LocalSessions } from "#graphs/session/local.ts";
import type { SessionStateValues } from "#graphs/session/state.ts";
import { envelopeOf } from "#src/kernel/envelope.ts";
import type { KeyRef } from "#src/sessions/repository.ts";
import { approvalIn } from "#src/tools/approval.ts";
import { lockName } from "#src/sessions/session-key.ts";
import { refusal, type TurnReply } from "#src/turns/turn-reply.ts";
import type { StorageBackend } from "#src/storage/backend.ts";

/** One message to a subject. */
export interface SubjectMessage {
  readonly id: string;
  readonly text: string;
  readonly key?: string;
  /** The user stops the answer at its third piece. */
  readonly stops?: boolean;
  /** The bytes of a picture that comes with the text, as text. */
  readonly picture?: string;
  /** Those that are sent at the same moment, after it. */
  readonly together?: readonly SubjectMessage[];
  /**
   * Past `runTurn`, as clients of LangGraph do: a person's decision for the tool that waits, or the message to the state
   * after the first turn, whose hand-off is followed.
   */
  readonly direct?: "approve" | "replay";
}

/** The message with all that is sent with it, each alone, in order. */
export function partsOf({ together = [], ...message }: SubjectMessage): SubjectMessage[] {
  return [message, ...together];
}

/** What `runTurn` is given of it. */
export function contentOf({ text, picture }: SubjectMessage): unknown {
  if (picture === undefined) return text;
  const url = `data:image/png;base64,${Buffer.from(picture).toString("base64")}`;
  const shown = { type: "image_url", image_url: { url } };
  return text === "" ? [shown] : [{ type: "text", text }, shown];
}

const FAILED = { ok: false, code: "turn_failed", message: "the run ended without a turn" } as const;

/** What a direct run needs. */
interface Driven {
  readonly sessions: LocalSessions;
  readonly storage: StorageBackend;
}

/** The reply to a message that goes to the graph itself; what a run throws is told as `runTurn` tells it. */
export async function sendDirectly(driven: Driven, ref: KeyRef, message: SubjectMessage): Promise<TurnReply> {
  try {
    return message.direct === "approve"
      ? await approve(driven, ref, message)
      : await replay(driven.sessions, ref, message);
  } catch (error) {
    return { ...refusal(envelopeOf(error), { deliveryId: message.id }), outcome: "failed" };
  }
}

/**
 * Approves what the message asked, if that still waits in the latest session, while nobody else runs on the key. Where it
 * does not wait any more, the message that asked is sent again.
 */
async function approve(
  { sessions, storage }: Driven,
  ref: KeyRef,
  { id, text }: SubjectMessage,
): Promise<TurnReply> {
  const lease = await storage.locks.acquire(lockName(ref));
  try {
    const threadId = (await sessions.repository.readChain(ref))?.latest ?? "";
    const { tasks } = await sessions.graph.getState({ configurable: { thread_id: threadId } });
    const asked: unknown = tasks.flatMap(({ interrupts }) => interrupts)[0]?.value;
    const byRule = approvalIn(asked)?.args["id"] === `${text}#b`;
    if (byRule || asked === `${text}#b`) {
      const resume = byRule ? { decisions: [{ type: "approve" }] } : "yes";
      const { reply } = await runOn(sessions, ref, { threadId, input: new Command({ resume }) });
      return reply ?? refusal(FAILED, { deliveryId: id });
    }
  } finally {
    await lease.release();
  }
  return sessions.send({ ...ref, content: text, deliveryId: id });
}

/** Sends the message to the state after the first turn of the key, and follows the hand-off. */
async function replay(sessions: LocalSessions, ref: KeyRef, message: SubjectMessage): Promise<TurnReply> {
  const chain = await sessions.repository.readChain(ref);
  const threadId = chain?.sessions[0]?.sessionId ?? "";
  const checkpointId = await afterFirstTurn(sessions, threadId);
  const input = { messages: [{ role: "user", content: message.text, id: message.id }] };
  const { handoff, reply } = await runOn(sessions, ref, { threadId, checkpointId, input });
  if (handoff === null || handoff === undefined) return reply ?? refusal(FAILED, { deliveryId: message.id });
  const { content, id } = handoff.message;
  return sessions.send({ ...ref, content, deliveryId: id });
}

/** The oldest: a run from there that failed has left a newer one with the same turn. */
async function afterFirstTurn({ graph }: LocalSessions, threadId: string): Promise<string> {
  let found: unknown;
  for await (const { config, next, values } of graph.getStateHistory({
    configurable: { thread_id: threadId },
  })) {
    const { session } = values as SessionStateValues;
    if (next.length === 0 && session?.turns === 1) found = config.configurable?.["checkpoint_id"];
  }
  if (typeof found === "string") return found;
  throw new Error("there is no checkpoint after the first turn");
}

async function runOn(
  { graph }: LocalSessions,
  { owner, sessionKey }: KeyRef,
  run: { readonly threadId: string; readonly checkpointId?: string; readonly input: object },
): Promise<Partial<Pick<SessionStateValues, "reply" | "handoff">>> {
  const { threadId, checkpointId } = run;
  const result: unknown = await graph.invoke(run.input, {
    configurable: {
      thread_id: threadId,
      ...(checkpointId === undefined ? {} : { checkpoint_id: checkpointId }),
    },
    context: { owner, sessionKey, followsHandoff: true, fence: undefined },
    durability: "sync",
  });
  return result as Partial<Pick<SessionStateValues, "reply" | "handoff">>;
}
