/**
 * `runTools`: runs the next open call of the model's last message, within the budget of the turn. One call a step, so that
 * one that ran is stored before the next begins: neither a crash nor an interrupt in a later one runs it again.
 */
import { ToolMessage, type BaseMessage } from "@langchain/core/messages";
import type { StructuredToolInterface } from "@langchain/core/tools";
import { isGraphBubbleUp } from "@langchain/langgraph";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import type { SessionDeps } from "#src/app/session-deps.ts";
import type { RecalledPiece } from "#src/context/recall.ts";
import { errorMessage, LilyError } from "#src/kernel/errors.ts";
import { defined } from "#src/kernel/json.ts";
import { orAborted } from "#src/kernel/clock.ts";
import { parseResultName } from "#src/context/shown-messages.ts";
import { turnsGiven } from "#src/sessions/call-receipt.ts";
import { readingOrder, type Chain } from "#src/sessions/chain.ts";
import type { LedgerChange } from "#src/sessions/ledger.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import type { ApprovalRecord, ReachedLimit } from "#src/sessions/turn-record.ts";
import type { Decision } from "#src/tools/approval.ts";
import { fromLangChain } from "#src/turns/langchain-messages.ts";
import { approveCall, type ApprovedCall, type AskedCall } from "../approve-call.ts";
import { type CallGuard, guardCall, judgeBudget, notRunText, spend, spentOf } from "../budget.ts";
import { putInFlight, requireInFlight, type InFlight, type OpenMark } from "../in-flight.ts";
import { resultText, type ResultKeeper } from "../kept-results.ts";
import { policyOf } from "../policy-of.ts";
import { notedIn } from "../prompt.ts";
import { begunAt, gateOf, memoryOf, recallCharacters } from "../run-memory.ts";
import {
  beginningAt,
  readRunContext,
  requireChain,
  stepOf,
  stepsLeft,
  type NodeRuntime,
  type RunContext,
} from "../run-context.ts";
import { readSkill, outsideTools, sessionTools, toolNamed } from "../tools.ts";
import type { SessionStateValues, SessionUpdate, TurnInFlight } from "../state.ts";
import {
  messagesInFlight,
  type OpenCall,
  openCalls,
  type OpenCalls,
  requireTurn,
  resultOf,
  toolResultOf,
} from "../turn-messages.ts";

/** A runtime that also carries what tools need. */
type ToolRuntime = NodeRuntime & {
  readonly signal?: AbortSignal;
  readonly writer?: (event: unknown) => void;
};

/** Makes the node. */
export function runTools(deps: SessionDeps) {
  return async (state: SessionStateValues, runtime: ToolRuntime): Promise<SessionUpdate> => {
    const { session, turn: asking } = requireTurn(state);
    const run = readRunContext(deps, runtime);
    const messages = messagesInFlight(state, asking);
    const open = openCalls(messages);
    const [next, ...others] = open.calls;
    if (next === undefined) return { messages: [...open.refused] };
    // A resume did not pass `admit`.
    const chain = await requireLatest(run, session);
    const inFlight = await requireInFlight(run, session, asking);
    const done = missing(messages, inFlight);
    if (done.length > 0) return { messages: done, turn: beginningAt(inFlight.turn, stepOf(runtime)) };
    const { call } = inFlight;
    // The run that brings a person's answer begins here.
    const turn = call?.state === "asked" ? beginningAt(asking, stepOf(runtime)) : asking;
    const steps = stepsLeft(runtime, turn.firstStep);
    // Each call is a step.
    const behind = steps && { ...steps, left: steps.left - Math.min(1, others.length) };
    const budget = judgeBudget("tool", { ...spentOf(turn), steps: behind }, deps.limits);
    if (budget.action !== "go") return notRun(turn, open, budget.limit);
    const put: Step["put"] = (more) =>
      putInFlight(run.store, session, { sessionId: session.sessionId, turn, messages, ...more });
    const note: Step["note"] = (told) => put({ call: { id: next.id, messageId: next.messageId, ...told } });
    const mark = isOf(call, next) ? call : undefined;
    return runNext(deps, { runtime, run, chain, session, turn, messages, open, next, mark, put, note });
  };
}

/** What was done already, of which the checkpoint that a run goes on from knows nothing: it is not done again. */
function missing(messages: readonly BaseMessage[], inFlight: InFlight): BaseMessage[] {
  const known = new Set(messages.map(({ id }) => id));
  return inFlight.messages.filter(({ id }) => !known.has(id));
}

/** The call that is next, and where it stands. */
interface Step extends Pick<AskedCall, "session" | "turn" | "mark" | "note"> {
  readonly runtime: ToolRuntime;
  readonly run: RunContext;
  readonly chain: Chain;
  /** Of the turn in flight. */
  readonly messages: readonly BaseMessage[];
  readonly open: OpenCalls;
  readonly next: OpenCall;
  /** Puts the turn in flight, with what it has more. */
  readonly put: (more: Pick<InFlight, "call"> & Partial<InFlight>) => Promise<void>;
}

async function runNext(deps: SessionDeps, step: Step): Promise<SessionUpdate> {
  const { run, turn, messages, open, next, mark, put } = step;
  const notRunFor = (why: string): ToolMessage[] => [resultOf(next, why, "error"), ...open.refused];
  if (mark?.state === "begun") return { messages: notRunFor(BEGUN) };
  const recalled: RecalledPiece[] = [];
  const noted = [...(turn.ledger ?? [])];
  const results = keeperOf(deps, step);
  const tool = toolNamed(await toolsFor(deps, step, { recalled, noted, results }), next.name);
  if (tool === undefined) return { messages: notRunFor(`there is no tool ${next.name}`) };
  const asked = { ...step, call: { ...next, name: tool.name }, tool, blobs: run.blobs };
  const verdict = await approveCall(deps, asked);
  const decided = withRecord(turn, verdict.record);
  if (verdict.run) {
    const { isStopped, ms, messages: added } = await runApproved(deps, step, verdict, { tool, results });
    const ran = {
      ...decided,
      ...spend(turn, { toolCalls: 1, ms }),
      recalled: [...turn.recalled, ...recalled.map(receiptOf)],
      ...(noted.length === 0 ? {} : { ledger: noted }),
      status: isStopped ? ("stopped" as const) : turn.status,
    };
    // The result goes on with the turn either way; a crash before the commit then tells that the call was begun.
    await put({ turn: ran, messages: [...messages, ...added], call: null }).catch(() => undefined);
    return { messages: added, turn: ran };
  }
  const refused = notRunFor(verdict.why);
  if (verdict.record !== undefined)
    await put({ turn: decided, messages: [...messages, ...refused], call: null });
  return { messages: refused, turn: decided };
}

/** Runs a call that may run. */
async function runApproved(
  deps: SessionDeps,
  { session, turn, runtime, run, open, next, note }: Step,
  { decision, args }: ApprovedCall,
  on: Pick<RunningCall, "tool" | "results">,
): Promise<{ readonly messages: ToolMessage[]; readonly isStopped: boolean; readonly ms: number }> {
  const spentMs = spentOf(turn).ms;
  const guard = guardCall(deps, { sessionId: session.sessionId, runSignal: runtime.signal, spentMs });
  try {
    runtime.writer?.({ type: "tool", name: next.name });
    const told = defined({ decision });
    await note({ state: "begun", ...told });
    const onAsked = (): Promise<void> => note({ state: "asked", ...told });
    const result = await runCall({ ...next, args }, { ...on, guard, store: run.store, onAsked });
    // After a stop there is no further step: the other calls are closed here.
    const isStopped = guard.endedBy() === "stop";
    const others = isStopped ? open.calls.slice(1) : [];
    const closed = others.map((other) => resultOf(other, STOPPED, "error"));
    const messages = [withEdit(result, decision), ...closed, ...open.refused];
    return { messages, isStopped, ms: guard.spentMs() };
  } finally {
    guard.close();
  }
}

/** The turn with what a person decided; the same decision is told once. */
function withRecord(turn: TurnInFlight, record: ApprovalRecord | undefined): TurnInFlight {
  if (record === undefined) return turn;
  return { ...turn, approvals: [...(turn.approvals ?? []).filter(({ id }) => id !== record.id), record] };
}

/** The model called it with other arguments than those that it ran with. */
function withEdit(result: ToolMessage, decision: Decision | undefined): ToolMessage {
  if (decision?.type !== "edit") return result;
  const changed = `The user changed the arguments; it was called with ${JSON.stringify(decision.editedAction.args)}.`;
  const { tool_call_id, name, status, id, text } = result;
  return new ToolMessage({ content: `${changed}\n${text}`, tool_call_id, ...defined({ name, status, id }) });
}

function keeperOf({ limits }: SessionDeps, step: Step): ResultKeeper {
  const { run, chain } = step;
  return { blobs: run.blobs, owner: chain.owner, limits, ofTurn: (name) => resultOfTurn(step, name) };
}

/** The text of a tool result that a prompt has collapsed, out of the transcript or the turn in flight. */
async function resultOfTurn(
  { run: { repository, threadId }, chain, turn, messages }: Step,
  name: string,
): Promise<string | undefined> {
  const asked = parseResultName(name);
  const session = readingOrder(chain, threadId).find(
    ({ sessionId }) => sessionId.slice(-12) === asked?.sessionEnd,
  );
  if (asked === undefined || session === undefined) return undefined;
  const { sessionId } = session;
  const { owner, sessionKey } = chain;
  const said =
    sessionId === threadId && asked.turn === turn.number
      ? messages.map((message) => fromLangChain(message, ""))
      : ((await repository.readTurn({ owner, sessionKey, sessionId }, asked.turn))?.messages ?? []);
  return said.filter(({ role }) => role === "tool")[asked.count - 1]?.content;
}

/** @throws {LilyError} `turn_conflict` when the session was ended: its tools are not run any more */
async function requireLatest(run: RunContext, session: SessionFields): Promise<Chain> {
  const chain = await requireChain(run, session);
  if (chain.latest === session.sessionId) return chain;
  throw new LilyError("turn_conflict", `session ${session.sessionId} was ended before its tool ran`, {
    next: "Nothing was run. Send the message again; the conversation goes on in its latest session.",
  });
}

const BEGUN = "not run again: this call was begun before, and may or may not have taken effect";

/** Whether a mark is about the call: some servers number the calls of each message anew. */
function isOf(mark: OpenMark | null, { id, messageId }: OpenCall): mark is OpenMark {
  return mark?.id === id && (mark.messageId ?? messageId) === messageId;
}

const STOPPED = "stopped by the user before it ended";

/** The budget is used up: what is open is answered without running; the model may be asked for its answer still. */
function notRun(turn: TurnInFlight, { calls, refused }: OpenCalls, limit: ReachedLimit): SessionUpdate {
  const results = calls.map((call) => resultOf(call, notRunText(limit), "error"));
  return { messages: [...results, ...refused], turn: { ...turn, limit } };
}

async function toolsFor(
  deps: SessionDeps,
  { run, chain, session, turn }: Step,
  {
    recalled,
    noted,
    results,
  }: { recalled: RecalledPiece[]; noted: LedgerChange[]; readonly results: ResultKeeper },
): Promise<StructuredToolInterface[]> {
  const { repository, store, blobs } = run;
  const { timeZone } = policyOf(deps, session);
  const memory = deps.memory.tool ? memoryOf(deps, store, { session, turn: turn.number }) : undefined;
  const others = [...(deps.tools ?? []), ...(await outsideTools(deps, blobs, session))];
  return sessionTools(others, {
    repository,
    chain,
    held: turnsGiven(session.sessionId, turn).filter(({ as }) => as !== "shortened"),
    recallCharacters: recallCharacters(deps.limits),
    timeZone,
    results,
    ledger: {
      ledger: notedIn(session, turn).ledger,
      turn: turn.number,
      changes: noted,
      gate: gateOf(deps, { isTrusted: false }),
    },
    readSkill:
      session.skillSnapshot.skills.length === 0 ? undefined : (asked) => readSkill(blobs, session, asked),
    memory: memory && {
      memory,
      nowMs: deps.clock.now(),
      timeZone,
      begun: begunAt(deps, { chain, session }),
    },
    onRecalled: (pieces) => recalled.push(...pieces),
  });
}

/** What a call is run with. */
interface RunningCall {
  readonly tool: StructuredToolInterface;
  readonly guard: CallGuard;
  readonly results: ResultKeeper;
  /** What a tool gets of `getStore`. */
  readonly store: BaseStore;
  /** Called when the tool waits for a person. */
  readonly onAsked: () => Promise<void>;
}

/** One call. What a tool throws is told to the model, which can try otherwise; it does not end the turn. */
async function runCall(call: OpenCall, on: RunningCall): Promise<ToolMessage> {
  const { tool, guard, results, store, onAsked } = on;
  const { signal } = guard;
  try {
    signal.throwIfAborted();
    const { id, name, args } = call;
    const asked = tool.invoke({ id, name, args, type: "tool_call" }, { signal, store });
    const value: unknown = await orAborted(asked, { signal });
    return await toolResultOf(call, value, results);
  } catch (error) {
    // A tool that asks a person: the run waits, and the same call begins again with the answer.
    if (isGraphBubbleUp(error)) {
      await onAsked();
      throw error;
    }
    switch (guard.endedBy()) {
      case "stop":
        return resultOf(call, STOPPED, "error");
      case "time":
        return resultOf(call, TIMED_OUT, "error");
      case "run":
        throw error;
      case undefined:
        return resultOf(call, await resultText(errorMessage(error), results), "error");
    }
  }
}

const TIMED_OUT = "ended by the time limit of this turn; it may or may not have taken effect";

function receiptOf({ sessionId, turn, at, score, rationale }: RecalledPiece) {
  return { sessionId, turn, at, score, rationale };
}
