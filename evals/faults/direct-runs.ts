/** Runs of the graph past `runTurn`, as a client of LangGraph makes them: a decision, and a message to an old checkpoint. */
import { Command } from "@langchain/langgraph";
import type { LocalSessions } from "#graphs/session/local.ts";
import type { SessionStateValues } from "#graphs/session/state.ts";
import { done } from "#src/kernel/envelope.ts";
import { findAnswer } from "#src/turns/stored-reply.ts";
import { refusal, type TurnReply } from "#src/turns/turn-reply.ts";
import type { SubjectMessage } from "./subject-message.ts";

/** Whose run it is. */
interface DirectRef {
  readonly owner: string;
  readonly sessionKey: string;
}

const FAILED = { ok: false, code: "turn_failed", message: "the run ended without a turn" } as const;

/** Approves what waits in the latest session. It is answered once the delivery that asked has its turn. */
export async function approve(
  sessions: LocalSessions,
  ref: DirectRef,
  { id }: SubjectMessage,
): Promise<TurnReply> {
  const chain = await sessions.repository.readChain(ref);
  await runOn(sessions, ref, { threadId: chain?.latest ?? "", input: new Command({ resume: "yes" }) });
  const record = await findAnswer(sessions.repository, ref, id);
  if (record === undefined) return refusal(FAILED, { deliveryId: id });
  return { ...refusal(done("answered", "approved"), { deliveryId: id }), outcome: "answered" };
}

/** Sends the message to the state after the first turn of the key, and follows the hand-off. */
export async function replay(
  sessions: LocalSessions,
  ref: DirectRef,
  message: SubjectMessage,
): Promise<TurnReply> {
  const chain = await sessions.repository.readChain(ref);
  const threadId = chain?.sessions[0]?.sessionId ?? "";
  const checkpointId = await afterFirstTurn(sessions, threadId);
  const input = { messages: [{ role: "user", content: message.text, id: message.id }] };
  const { handoff, reply } = await runOn(sessions, ref, { threadId, checkpointId, input });
  if (handoff === null || handoff === undefined) return reply ?? refusal(FAILED, { deliveryId: message.id });
  const { content, id } = handoff.message;
  return sessions.send({ ...ref, content, deliveryId: id });
}

async function afterFirstTurn({ graph }: LocalSessions, threadId: string): Promise<string> {
  for await (const { config, next, values } of graph.getStateHistory({
    configurable: { thread_id: threadId },
  })) {
    const { session } = values as SessionStateValues;
    if (next.length === 0 && session?.turns === 1) return String(config.configurable?.["checkpoint_id"]);
  }
  throw new Error("there is no checkpoint after the first turn");
}

async function runOn(
  { graph }: LocalSessions,
  { owner, sessionKey }: DirectRef,
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
