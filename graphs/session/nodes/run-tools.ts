/** `runTools`: runs the calls of the model's last message that have no result yet. */
import { AIMessage, ToolMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import type { RecalledPiece } from "#src/context/recall.ts";
import { errorMessage, LilyError } from "#src/kernel/errors.ts";
import { toStorableText } from "#src/kernel/json.ts";
import { contentText } from "#src/turns/langchain-messages.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { policyOf } from "../policy-of.ts";
import { requireTurn } from "../require.ts";
import { readRunContext, type NodeRuntime } from "../run-context.ts";
import type { SessionStateValues, SessionUpdate } from "../state.ts";
import { sessionTools } from "../tools.ts";
import { messagesInFlight } from "../turn-messages.ts";

type Tools = ReturnType<typeof sessionTools>;

/** Makes the node. */
export function runTools(deps: SessionDeps) {
  return async (
    state: SessionStateValues,
    runtime: NodeRuntime & { signal?: AbortSignal; writer?: (event: unknown) => void },
  ): Promise<SessionUpdate> => {
    const { session, turn } = requireTurn(state);
    const { repository } = readRunContext(deps, runtime);
    const chain = await repository.readChain(session);
    if (chain === undefined)
      throw new LilyError("record_invalid", `the chain of ${session.sessionKey} is gone`);
    const recalled: RecalledPiece[] = [];
    const tools = sessionTools({
      repository,
      chain,
      sessionId: session.sessionId,
      timeZone: policyOf(deps, session).timeZone,
      onRecalled: (pieces) => recalled.push(...pieces),
    });
    const last = messagesInFlight(state, turn).findLast((message) => AIMessage.isInstance(message));
    const results: ToolMessage[] = [];
    for (const call of last?.tool_calls ?? []) {
      runtime.writer?.({ type: "tool", name: call.name });
      results.push(await runCall(tools, call, runtime.signal));
    }
    return {
      messages: [...results, ...refuseInvalid(last)],
      turn: { ...turn, recalled: [...turn.recalled, ...recalled.map(receiptOf)] },
    };
  };
}

/** One call. What a tool throws is told to the model, which can try otherwise; it does not end the turn. */
async function runCall(tools: Tools, call: ToolCall, signal: AbortSignal | undefined): Promise<ToolMessage> {
  const chosen = tools.find((candidate) => candidate.name === call.name);
  if (chosen === undefined) return resultOf(call, `there is no tool ${call.name}`, "error");
  try {
    const config = signal === undefined ? {} : { signal };
    const result: unknown = await chosen.invoke({ ...call, type: "tool_call" }, config);
    return resultOf(
      call,
      ToolMessage.isInstance(result) ? contentText(result.content) : String(result),
      "success",
    );
  } catch (error) {
    if (signal?.aborted === true) throw error;
    return resultOf(call, errorMessage(error), "error");
  }
}

/** Calls whose arguments were no JSON get an answer too, so that none stays open. */
function refuseInvalid(message: AIMessage | undefined): ToolMessage[] {
  return (message?.invalid_tool_calls ?? []).map((call, index) =>
    resultOf(
      { id: call.id ?? `invalid-${index + 1}`, name: call.name ?? "unknown" },
      "the arguments were not valid JSON",
      "error",
    ),
  );
}

function resultOf(
  call: { id?: string | undefined; name: string },
  text: string,
  status: "success" | "error",
): ToolMessage {
  const content = text.trim() === "" ? "(no output)" : toStorableText(text);
  return new ToolMessage({ content, tool_call_id: call.id ?? "", name: call.name, status });
}

function receiptOf({ sessionId, turn, at, score, rationale }: RecalledPiece) {
  return { sessionId, turn, at, score, rationale };
}
