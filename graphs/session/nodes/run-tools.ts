/**
 * `runTools`: runs the next open call of the model's last message. One call a step, so that one that ran is stored before
 * the next begins: neither a crash nor an interrupt in a later one runs it again.
 */
import { ToolMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import type { StructuredToolInterface } from "@langchain/core/tools";
import { isGraphBubbleUp } from "@langchain/langgraph";
import type { SessionDeps } from "#src/app/session-deps.ts";
import type { RecalledPiece } from "#src/context/recall.ts";
import { errorMessage } from "#src/kernel/errors.ts";
import { contentText } from "#src/turns/langchain-messages.ts";
import { policyOf } from "../policy-of.ts";
import { requireChain, requireTurn } from "../require.ts";
import { readRunContext, type NodeRuntime, type RunContext } from "../run-context.ts";
import type { SessionStateValues, SessionUpdate } from "../state.ts";
import { openCalls, resultOf } from "../tool-calls.ts";
import { sessionTools } from "../tools.ts";
import { messagesInFlight } from "../turn-messages.ts";

/** A runtime that also carries what tools need. */
type ToolRuntime = NodeRuntime & {
  readonly signal?: AbortSignal;
  readonly writer?: (event: unknown) => void;
};

/** Makes the node. */
export function runTools(deps: SessionDeps) {
  return async (state: SessionStateValues, runtime: ToolRuntime): Promise<SessionUpdate> => {
    const { session, turn } = requireTurn(state);
    const recalled: RecalledPiece[] = [];
    const tools = await toolsFor(deps, { run: readRunContext(deps, runtime), state, recalled });
    const stop = deps.stops.signalFor(session.sessionId);
    const signals = [runtime.signal, stop].filter((signal) => signal !== undefined);
    const { calls, refused } = openCalls(messagesInFlight(state, turn));
    const results: ToolMessage[] = [];
    for (const call of calls) {
      runtime.writer?.({ type: "tool", name: call.name });
      results.push(await runCall(tools, call, { signal: AbortSignal.any(signals), stop }));
      // After a stop there is no further step: the other calls are closed here.
      if (stop?.aborted !== true) break;
    }
    return {
      messages: [...results, ...refused],
      turn: {
        ...turn,
        recalled: [...turn.recalled, ...recalled.map(receiptOf)],
        status: stop?.aborted === true ? "stopped" : turn.status,
      },
    };
  };
}

async function toolsFor(
  deps: SessionDeps,
  on: { readonly run: RunContext; readonly state: SessionStateValues; readonly recalled: RecalledPiece[] },
): Promise<StructuredToolInterface[]> {
  const { session } = requireTurn(on.state);
  const { repository } = on.run;
  const chain = await requireChain(on.run, session);
  return sessionTools(deps.tools ?? [], {
    repository,
    chain,
    sessionId: session.sessionId,
    timeZone: policyOf(deps, session).timeZone,
    onRecalled: (pieces) => on.recalled.push(...pieces),
  });
}

interface Signals {
  readonly signal: AbortSignal;
  /** The user's wish to stop, as against the end of the run. */
  readonly stop: AbortSignal | undefined;
}

/** One call. What a tool throws is told to the model, which can try otherwise; it does not end the turn. */
async function runCall(
  tools: readonly StructuredToolInterface[],
  call: ToolCall,
  { signal, stop }: Signals,
): Promise<ToolMessage> {
  const chosen = tools.find((candidate) => candidate.name === call.name);
  if (chosen === undefined) return resultOf(call, `there is no tool ${call.name}`, "error");
  try {
    signal.throwIfAborted();
    const invoked: Promise<unknown> = chosen.invoke({ ...call, type: "tool_call" }, { signal });
    const result = await orAborted(invoked, signal);
    return resultOf(
      call,
      ToolMessage.isInstance(result) ? contentText(result.content) : String(result),
      "success",
    );
  } catch (error) {
    // A tool that asks a person: the run waits, and the same call begins again with the answer.
    if (isGraphBubbleUp(error)) throw error;
    if (stop?.aborted === true) return resultOf(call, "stopped by the user before it ended", "error");
    if (signal.aborted) throw error;
    return resultOf(call, errorMessage(error), "error");
  }
}

/** A tool that does not listen to its signal is left behind: its late result goes nowhere. */
async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  let abort: () => void = () => undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    abort = () => reject(signal.reason instanceof Error ? signal.reason : new Error("stopped"));
    signal.addEventListener("abort", abort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
    // The race may be over; what comes of the work later is nobody's concern.
    work.catch(() => undefined);
  }
}

function receiptOf({ sessionId, turn, at, score, rationale }: RecalledPiece) {
  return { sessionId, turn, at, score, rationale };
}
