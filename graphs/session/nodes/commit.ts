/** `commit`: makes the turn part of the conversation, by one put of its record, last. */
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { fromInstant, toInstant } from "#src/kernel/clock.ts";
import { replyText } from "#src/kernel/envelope.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { canonicalJson, defined } from "#src/kernel/json.ts";
import { defaultsAfter } from "#src/preparation/plugins.ts";
import { storeUnits, unitsAfter } from "#src/sessions/knowledge-units.ts";
import type { Message } from "#src/sessions/message.ts";
import { isRedacted, type StoredTurn } from "#src/sessions/redaction.ts";
import type { FailedTurn, SessionRepository } from "#src/sessions/repository.ts";
import { linkTurn } from "#src/sessions/seal.ts";
import { applyChanges } from "#src/sessions/session-changes.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { temporalDue } from "#src/sessions/decide-rollover.ts";
import type { Explanation, TurnBody, TurnRecord } from "#src/sessions/turn-record.ts";
import type { Verdict } from "#src/sessions/verdict.ts";
import { fromLangChain } from "#src/turns/langchain-messages.ts";
import { replyOf } from "#src/turns/turn-reply.ts";
import { limitNotice } from "../budget.ts";
import { policyOf } from "../policy-of.ts";
import { type NodeRuntime, readRunContext } from "../run-context.ts";
import type { SessionStateValues, SessionUpdate, TurnInFlight } from "../state.ts";
import { messagesInFlight, requireTurn } from "../turn-messages.ts";
import { clearWindow, extendWindow, openedNoticeId } from "../window.ts";

/** Makes the node. */
export function commit(deps: SessionDeps) {
  return async (state: SessionStateValues, runtime: NodeRuntime): Promise<SessionUpdate> => {
    const { session, turn } = requireTurn(state);
    const { repository } = readRunContext(deps, runtime);
    const told =
      turn.outcome === null
        ? []
        : [new AIMessage({ content: turn.outcome.envelope.message, id: deps.ids.uuid() })];
    const inFlight = messagesInFlight(state, turn);
    const messages = [...inFlight, ...told];
    const { verdict } = state;
    const at = toInstant(deps.clock.now());
    const draft = draftOf(turn, { verdict, messages, status: turn.status, at });
    const committed = await commitTurn(deps, repository, session, draft);
    const { record } = committed;
    deps.shownTurns.remember(record);
    const cleared = turn.clears ? clearWindow(state.window) : { window: state.window, changes: [] };
    const shown = [...withOpened(state.messages, session.sessionId, inFlight), ...told];
    const { window, changes } = extendWindow(
      cleared.window,
      { turn: record.turn, messages: shown, deliveryId: turn.deliveryId },
      deps.limits,
      turn.clears ? [] : state.messages,
    );
    return {
      session: committed.session,
      turn: null,
      window,
      reply: replyOf(record, false),
      messages: [...cleared.changes, ...changes, ...told.map((message) => wholeReply(message, turn))],
    };
  };
}

/** The messages of a turn, with the notice that says behind the first one why the session began. */
function withOpened(
  messages: readonly BaseMessage[],
  sessionId: string,
  [first, ...rest]: readonly BaseMessage[],
): BaseMessage[] {
  const opened = messages.find(({ id }) => id === openedNoticeId(sessionId));
  return [first, opened, ...rest].filter((message) => message !== undefined);
}

/** A command's reply as pages show it: the whole text, of which the transcript keeps the headline. */
function wholeReply(message: AIMessage, { outcome }: TurnInFlight): AIMessage {
  if (outcome === null) return message;
  return new AIMessage({ content: replyText(outcome.envelope), ...defined({ id: message.id }) });
}

/** A committed turn with the fields after it. */
interface CommittedTurn {
  readonly record: TurnRecord;
  readonly session: SessionFields;
}

/**
 * Commits `draft` as the next turn of `session`.
 *
 * @throws {LilyError} `turn_conflict` when the session is not the latest of its key, or has another turn of that number; then,
 *   and when a write fails, nothing was committed.
 */
export async function commitTurn(
  deps: SessionDeps,
  repository: SessionRepository,
  session: SessionFields,
  draft: TurnDraft,
): Promise<CommittedTurn> {
  const turn = session.turns + 1;
  const body: TurnBody = { v: 1, sessionId: session.sessionId, turn, ...draft };
  const record = linkTurn(body, { head: session.head, salt: deps.ids.salt() });
  // Whatever can fail comes before the put: a turn that is told as failed is not stored.
  const after = advance(deps, session, record);
  await assertLatest(repository, session);
  const stored = await repository.readStoredTurn(session, turn);
  if (stored !== undefined) {
    if (isThisTurn(stored, draft)) return { record: stored, session: advance(deps, session, stored) };
    throw conflict(`turn ${turn} of session ${session.sessionId} was committed by another run`);
  }
  await putRecord(repository, session, record);
  return { record, session: after };
}

/** A run that did not begin in `admit`, or not under a lock, may come here after the session was ended. */
async function assertLatest(repository: SessionRepository, session: SessionFields): Promise<void> {
  const chain = await repository.readChain(session);
  if (chain?.latest !== session.sessionId) {
    throw conflict(`session ${session.sessionId} was ended before this turn was committed`);
  }
}

/** Whether an earlier try of the same run has put it, which was reported as failed; whenever that was. */
function isThisTurn(stored: StoredTurn, draft: TurnDraft): stored is TurnRecord {
  return !isRedacted(stored) && saidIn(stored) === saidIn(draft);
}

function saidIn({ explanation, messages }: Pick<TurnDraft, "explanation" | "messages">): string {
  const said = messages.map(({ timestamp: _at, ...message }) => message);
  return canonicalJson([explanation.requestId, said]);
}

function conflict(what: string): LilyError {
  return new LilyError("turn_conflict", what, { next: "Send the message again; it was not stored." });
}

/** Puts the record. A put that is reported as failed and was made all the same counts as made. */
async function putRecord(
  repository: SessionRepository,
  session: SessionFields,
  record: TurnRecord,
): Promise<void> {
  try {
    await repository.writeTurn(session, record);
  } catch (error) {
    const stored = await repository.readTurn(session, record.turn).catch(() => undefined);
    if (stored?.leaf !== record.leaf) throw error;
  }
}

/** The fields after a committed turn, erased or not. A stored time that lies ahead of the turn's is repaired. */
export function advance(deps: SessionDeps, before: SessionFields, record: StoredTurn): SessionFields {
  const { units: held, ...changed } = applyChanges(before, record.changes, record.turn);
  const units = unitsAfter(held, record);
  const session: SessionFields = { ...changed, ...(units === undefined ? {} : { units }) };
  const atMs = fromInstant(record.at);
  const first = session.firstActivityAt ?? record.at;
  const clocks = {
    firstActivityAt: fromInstant(first) > atMs ? record.at : first,
    lastActivityAt: record.at,
  };
  const due = temporalDue(clocks, policyOf(deps, session), atMs);
  return {
    ...session,
    ...clocks,
    ...(isRedacted(record) ? {} : whatItExplains(session, record)),
    turns: record.turn,
    head: record.head,
    expiresAt: due === undefined ? null : toInstant(due.dueMs),
  };
}

/** An answer without a model says once that there is none; a topic that nobody could judge is counted; what was chosen and worked is the key's. */
function whatItExplains(
  session: SessionFields,
  { explanation: { plugins, solver, verdict }, status }: TurnRecord,
): Pick<SessionFields, "unknownTopics" | "toldNoModel" | "keyPlugins"> {
  const keyPlugins = status === "completed" ? defaultsAfter(session.keyPlugins, plugins) : session.keyPlugins;
  const told = {
    toldNoModel: session.toldNoModel || solver === "symbolic",
    ...(keyPlugins === undefined ? {} : { keyPlugins }),
  };
  if (verdict?.action !== "stay" || verdict.semantic?.result !== "unknown") return told;
  return { ...told, unknownTopics: (session.unknownTopics ?? 0) + 1 };
}

/** A turn's body without what the commit itself decides. */
type TurnDraft = Omit<TurnBody, "v" | "sessionId" | "turn">;

/** What a draft is made of beside the turn. */
interface DraftParts {
  /** Why the session went on. */
  readonly verdict: Verdict | null;
  /** Messages of the turn, the user's first. */
  readonly messages: readonly BaseMessage[];
  readonly status: TurnBody["status"];
  /** ISO instant at which the turn counts as done: the activity clock. */
  readonly at: string;
  /** Said before the answer, where it is not what the turn says. */
  readonly notice?: string;
}

/** The draft of a turn. */
export function draftOf(turn: TurnInFlight, parts: DraftParts): TurnDraft {
  const { collected, deliveryId, outcome, stagedUnits, textHash } = turn;
  const limited =
    parts.status === "limited" && turn.limit !== undefined ? limitNotice(turn.limit) : undefined;
  const messages = transcriptOf(turn, parts);
  const units = unlessEmpty(storeUnits(stagedUnits, messages[0]?.content ?? ""));
  return {
    at: parts.at,
    kind: outcome === null ? "chat" : "command",
    status: parts.status,
    deliveryId,
    textHash,
    messages,
    ...defined({ collected, units, changes: changesOf(turn) }),
    reply: defined({
      announcement: turn.announcement ?? undefined,
      notice: parts.notice ?? limited ?? turn.notice ?? undefined,
      envelope: outcome?.envelope,
    }),
    explanation: { requestId: turn.requestId, ...explained(turn, parts) },
  };
}

/** The messages as the transcript keeps them: the user's text is what was answered, without a command before it. */
function transcriptOf(turn: TurnInFlight, { messages, at }: DraftParts): Message[] {
  const { attachments, startedAt, text: content } = turn;
  return messages.map((message, index) =>
    index === 0
      ? { ...fromLangChain(message, startedAt), content, ...defined({ attachments }) }
      : fromLangChain(message, at),
  );
}

/** How far a turn had come: what explains one that was not committed. */
export function progressOf(turn: TurnInFlight, verdict: Verdict | null): Partial<FailedTurn> {
  const { startedAt, receipt, calls, controlCalls, plan, plugins, recalled, limit, steps } = turn;
  return {
    startedAt,
    ...defined({ verdict: verdict ?? undefined, receipt: receipt ?? undefined, plan }),
    ...defined({ calls, controlCalls, plugins, recalled: unlessEmpty(recalled), limit, steps }),
  };
}

function explained(turn: TurnInFlight, { verdict }: DraftParts): Omit<Explanation, "requestId"> {
  const { plugins, lookedFor, calls, controlCalls, extracted, approvals, limit, cut, attempts, steps } = turn;
  return {
    ...defined({ verdict: verdict ?? undefined, solver: turn.solver ?? undefined }),
    ...defined({ receipt: turn.receipt ?? undefined, plugins, lookedFor, calls, controlCalls, extracted }),
    ...defined({ recalled: unlessEmpty(turn.recalled), sources: unlessEmpty(turn.sources ?? []) }),
    ...defined({ approvals, limit, cut, attempts, steps }),
  };
}

function unlessEmpty<T>(list: T[]): T[] | undefined {
  return list.length === 0 ? undefined : list;
}

/** A turn that clears the working set is the first of the new one, unless it is nothing but the command. */
function changesOf(turn: TurnInFlight): TurnDraft["changes"] {
  const { clears, kbs, ledger, number, outcome, approvals = [] } = turn;
  const always = approvals.filter((one) => one.always === true).map(({ tool }) => tool);
  const noted = defined({ ledger, approved: unlessEmpty(always), kbs });
  if (clears) return { contextFrom: outcome === null ? number : number + 1, ...noted };
  const changes = { ...outcome?.changes, ...noted };
  return Object.keys(changes).length === 0 ? undefined : changes;
}
