/**
 * The turn in flight, in the Store: what must not be done twice stands here, on every host, and another program can tell
 * of a message that nobody answers any more. A checkpoint may be thrown away; this is what a crash is settled by.
 */
import {
  AIMessage,
  type BaseMessage,
  HumanMessage,
  mapChatMessagesToStoredMessages,
  mapStoredMessagesToChatMessages,
  type StoredMessage,
  type ToolMessage,
} from "@langchain/core/messages";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { quotedBeginning, type UnansweredMessage } from "#src/commands/unanswered-message.ts";
import { toInstant } from "#src/kernel/clock.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { toStorableValue } from "#src/kernel/json.ts";
import type { FailedTurn, KeyRef, SessionRepository } from "#src/sessions/repository.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import type { KeyLock } from "#src/storage/backend.ts";
import { IN_FLIGHT_KEY, inFlightNamespace } from "#src/storage/session-items.ts";
import { approvalSchema, decisionSchema } from "#src/tools/approval.ts";
import type { OpenApproval } from "#src/turns/answer-approval.ts";
import { contentText } from "#src/turns/langchain-messages.ts";
import { lockName } from "#src/sessions/session-key.ts";
import { deliveryConflict, findAnswer } from "#src/turns/turn-reply.ts";
import type { CaughtUp } from "./locate-session.ts";
import { deliveredId } from "./messages.ts";
import { commitTurn, draftOf, progressOf } from "./nodes/commit.ts";
import type { RunContext } from "./run-context.ts";
import {
  type SessionStateValues,
  type SessionUpdate,
  type TurnInFlight,
  turnInFlightSchema,
} from "./state.ts";
import { asksForTools, openCalls, resultOf } from "./turn-messages.ts";
import { extendWindow, inWords, messagesOf } from "./window.ts";

/** A call of a tool that is not finished: it was begun, or a person was asked, or has answered. */
const openCallSchema = z.strictObject({
  id: z.string(),
  /** The message that made the call; absent in items of earlier versions. */
  messageId: z.string().optional(),
  state: z.enum(["begun", "asked", "answered"]),
  /** The question, where a person is asked whether it may run; absent where its tool asks. */
  approval: approvalSchema.optional(),
  /** What the person decided: nobody is asked again. */
  decision: decisionSchema.optional(),
});

/** A call of a tool that is not finished. */
export type OpenMark = z.infer<typeof openCallSchema>;

const storedMessageSchema = z.looseObject({
  type: z.string(),
  data: z.looseObject({ content: z.unknown() }),
});

const inFlightSchema = z.strictObject({
  sessionId: z.string(),
  turn: turnInFlightSchema,
  messages: z.array(storedMessageSchema),
  /** The call that was being run. */
  call: openCallSchema.nullable(),
});

/** A turn that has begun and is not committed. */
export type InFlight = Omit<z.infer<typeof inFlightSchema>, "messages"> & {
  /** The user's message first. */
  readonly messages: readonly BaseMessage[];
};

/** The turn in flight of a key; `undefined` when there is none, or none that this version can read. */
export async function readInFlight(store: BaseStore, ref: KeyRef): Promise<InFlight | undefined> {
  const item = await store.get(inFlightNamespace(ref), IN_FLIGHT_KEY);
  const parsed = inFlightSchema.safeParse(item?.value);
  if (!parsed.success) return undefined;
  // LangChain reads back what it has written; each has a type and data.
  const messages = mapStoredMessagesToChatMessages(parsed.data.messages as unknown as StoredMessage[]);
  return { ...parsed.data, messages };
}

/** Puts the turn in flight of its key, in place of the one that was there. */
export async function putInFlight(store: BaseStore, ref: KeyRef, inFlight: InFlight): Promise<void> {
  const messages = toStorableValue(mapChatMessagesToStoredMessages(inFlight.messages.map(inWords)));
  await store.put(inFlightNamespace(ref), IN_FLIGHT_KEY, { ...inFlight, messages }, false);
}

/** Forgets the turn in flight of a key. */
export async function dropInFlight(store: BaseStore, ref: KeyRef): Promise<void> {
  await store.delete(inFlightNamespace(ref), IN_FLIGHT_KEY);
}

/**
 * The turn in flight that a step goes on with. A resume, or a run from a checkpoint in the middle of a turn, did not pass
 * `admit`: what it goes on with may have been answered or closed long ago.
 *
 * @throws {LilyError} `turn_conflict` when the turn is not in flight any more
 */
export async function requireInFlight(
  { store }: Pick<RunContext, "store">,
  session: SessionFields,
  turn: TurnInFlight,
): Promise<InFlight> {
  const inFlight = await readInFlight(store, session);
  if (inFlight?.turn.requestId === turn.requestId) return inFlight;
  throw new LilyError("turn_conflict", `turn ${turn.number} of session ${session.sessionId} is over`, {
    next: "Nothing was run. Send a new message.",
  });
}

const INTERRUPTED =
  "This turn was interrupted before it was answered; its tools are not run again by themselves.";

/** What is there to settle. */
interface Unsettled {
  readonly run: RunContext;
  readonly state: Pick<SessionStateValues, "window" | "verdict" | "turn">;
  /** Messages of a turn in flight as the checkpoint has them. */
  readonly inFlight: readonly BaseMessage[];
  /** The delivery of this run, and the hash of what it says. */
  readonly deliveryId: string;
  readonly textHash: string;
  /** It is a text, which may be answered together with one that waits. */
  readonly isText: boolean;
  readonly caughtUp: CaughtUp;
}

/** The session as it stands once all is settled. */
export interface Settled {
  readonly session: SessionFields;
  readonly messages: BaseMessage[];
  readonly fields: SessionUpdate;
  /** This run's delivery is the one that was in flight, and its model had answered: go on with it. */
  readonly resumed?: TurnInFlight;
  /** A turn that waits, to be answered with this run's message. */
  readonly waiting?: TurnInFlight;
}

/**
 * The rule: a turn in flight whose model had answered is never run again. If its delivery comes again it goes on where
 * it was; if another message comes it is committed as it stands, `interrupted` unless the answer was complete. A turn
 * whose model had not answered leaves nothing behind but a line in the explanation log; its delivery may come again.
 */
export async function settle(deps: SessionDeps, unsettled: Unsettled): Promise<Settled> {
  const { run, caughtUp } = unsettled;
  const adopted = adopt(deps, unsettled);
  // Of a session that was ended meanwhile nothing can be committed; and a fork is about a moment before it.
  const left = run.isFork ? undefined : newer(await readInFlight(run.store, caughtUp.session), unsettled);
  if (left === undefined || left.sessionId !== caughtUp.session.sessionId) return adopted;
  if ((await findAnswer(run.repository, caughtUp.session, left.turn.deliveryId)) !== undefined)
    return adopted;
  assertSameText(unsettled, left.turn);
  const hasBegun = left.messages.some((message) => AIMessage.isInstance(message));
  const again = deliveredAgain(unsettled, left.turn);
  if (hasBegun && again !== "nothing") return resume(adopted, left);
  if (hasBegun) return commitAsItStands(deps, unsettled, { left, adopted });
  if (again === "nothing" && left.turn.waits === true && unsettled.isText)
    return { ...adopted, waiting: left.turn };
  if (again !== "all")
    await writeLoss(deps, run.repository, caughtUp.session, left.turn, progressOf(left.turn, null));
  return adopted;
}

/** The checkpoint of the same turn may have come further than the item; homes of earlier versions have it alone. */
function newer(stored: InFlight | undefined, { state, inFlight, caughtUp }: Unsettled): InFlight | undefined {
  const { turn } = state;
  if (turn === null || inFlight.length <= (stored?.messages.length ?? 0)) return stored;
  if (stored !== undefined && turn.requestId !== stored.turn.requestId) return stored;
  return { sessionId: caughtUp.session.sessionId, turn, messages: inFlight, call: null };
}

/** How much of what the turn in flight was to answer came again. Whoever sent more with it looks at what was answered. */
function deliveredAgain({ run, deliveryId }: Unsettled, turn: TurnInFlight): "all" | "some" | "nothing" {
  const arrived = new Set([deliveryId, ...idsOf(run.collected?.others)]);
  const wanted = [turn.deliveryId, ...idsOf(turn.collected)];
  if (wanted.every((id) => arrived.has(id))) return "all";
  return wanted.some((id) => arrived.has(id)) ? "some" : "nothing";
}

/** @throws {LilyError} `delivery_conflict` when an id in flight came again with another text */
function assertSameText({ run, deliveryId, textHash }: Unsettled, turn: TurnInFlight): void {
  const inFlight = new Map([turn, ...(turn.collected ?? [])].map((one) => [one.deliveryId, one.textHash]));
  const arrived = [{ deliveryId, textHash }, ...(run.collected?.others ?? [])];
  const other = arrived.find((one) => (inFlight.get(one.deliveryId) ?? one.textHash) !== one.textHash);
  if (other !== undefined) throw deliveryConflict(other.deliveryId);
}

function idsOf(deliveries: TurnInFlight["collected"]): string[] {
  return (deliveries ?? []).map((delivery) => delivery.deliveryId);
}

/** Turns of the transcript that the checkpoint had missed come into `messages` and the window. */
function adopt(deps: SessionDeps, { state, caughtUp }: Unsettled): Settled {
  let window = state.window;
  const messages: BaseMessage[] = [];
  for (const record of caughtUp.missed) {
    const added = messagesOf(record);
    const turn = { turn: record.turn, messages: added };
    const extended = extendWindow(window, turn, deps.limits);
    window = extended.window;
    messages.push(...added, ...extended.changes);
  }
  return { session: caughtUp.session, messages, fields: caughtUp.missed.length === 0 ? {} : { window } };
}

/** A question that a person was asked about a call stays open: the message that came again is no answer to it. */
function resume(adopted: Settled, { turn, messages, call }: InFlight): Settled {
  const resumed = { ...turn, number: adopted.session.turns + 1 };
  const isAsked = call?.approval !== undefined && call.state !== "begun";
  const closing = isAsked ? [] : closeOpenCalls({ messages, call });
  return { ...adopted, messages: [...adopted.messages, ...messages, ...closing], resumed };
}

/** A stored result for each call that has none, so that the history stays valid and no tool runs again by itself. */
function closeOpenCalls({ messages, call: mark }: Pick<InFlight, "messages" | "call">): ToolMessage[] {
  const { calls, refused } = openCalls(messages);
  const isAsked = mark?.state === "asked" && mark.approval !== undefined;
  const textFor = (id: string): string => (isAsked && mark.id === id ? NOT_APPROVED : UNFINISHED);
  return [...calls.map((call) => resultOf(call, textFor(call.id), "error")), ...refused];
}

const NOT_APPROVED = "not run: it was not approved";

const UNFINISHED =
  "interrupted: this call was not finished, or not approved; it may or may not have taken effect";

/** The turn, with the question that nobody has answered. */
function withClosed({ turn, call }: InFlight): TurnInFlight {
  if (call?.state !== "asked" || call.approval === undefined) return turn;
  const { id, tool } = call.approval;
  return {
    ...turn,
    approvals: [...(turn.approvals ?? []), { id, callId: call.id, tool, decision: "closed" }],
  };
}

/** The activity clock stays where the turn was: what a crash left does not keep a session young. */
async function commitAsItStands(
  deps: SessionDeps,
  { run, state, caughtUp }: Unsettled,
  { left, adopted }: { readonly left: InFlight; readonly adopted: Settled },
): Promise<Settled> {
  const turn = withClosed(left);
  const messages = [...left.messages, ...closeOpenCalls(left)];
  const last = left.messages.at(-1);
  const isAnswered = AIMessage.isInstance(last) && !asksForTools(last);
  const draft = draftOf(turn, {
    // The state is a copy, which may be of another turn.
    verdict: state.turn?.requestId === turn.requestId ? state.verdict : null,
    messages,
    status: isAnswered ? turn.status : "interrupted",
    at: turn.startedAt,
    ...(isAnswered ? {} : { notice: INTERRUPTED }),
  });
  const { record, session } = await commitTurn(deps, run.repository, caughtUp.session, draft);
  const extended = extendWindow(
    adopted.fields.window ?? state.window,
    { turn: record.turn, messages },
    deps.limits,
  );
  return {
    session,
    messages: [...adopted.messages, ...messages, ...extended.changes],
    fields: { window: extended.window },
  };
}

/**
 * What the next message is told of what stands behind the last committed turn and is not its own: it is taken out, and no
 * part of the conversation. A user message there was sent in a run that ended before its first step.
 */
export async function leftOverText(
  deps: SessionDeps,
  { repository }: Pick<RunContext, "repository">,
  { session, leftOver }: { readonly session: SessionFields; readonly leftOver: readonly BaseMessage[] },
): Promise<string | null> {
  const told: string[] = [];
  for (const message of leftOver) {
    const text = contentText(message.content);
    const deliveryId = deliveredId(message) ?? "";
    if (!HumanMessage.isInstance(message)) {
      told.push(`${quotedBeginning(text)} was written here by hand, and is no part of this conversation.`);
    } else if ((await findAnswer(repository, session, deliveryId)) === undefined) {
      await writeLoss(deps, repository, session, { deliveryId, requestId: deps.ids.uuid(), text });
      told.push(`The message ${quotedBeginning(text)} was not answered: its run ended. Send it again.`);
    }
  }
  return told.length === 0 ? null : told.join("\n");
}

async function writeLoss(
  deps: SessionDeps,
  repository: RunContext["repository"],
  session: SessionFields,
  { deliveryId, requestId, text }: Pick<TurnInFlight, "deliveryId" | "requestId" | "text">,
  progress: Partial<FailedTurn> = {},
): Promise<void> {
  await repository.writeFailure(session, {
    sessionId: session.sessionId,
    deliveryId,
    requestId,
    at: toInstant(deps.clock.now()),
    code: "turn_failed",
    message: "the program ended before the turn was answered",
    node: "admit",
    text,
    ...progress,
  });
}

/** Where a message that nobody answered is looked for. */
interface UnansweredSources {
  readonly store: BaseStore;
  readonly repository: SessionRepository;
  readonly locks: KeyLock;
}

/** Makes what finds the call of a key that a person is asked about. */
export function findApproval({ store, repository }: Pick<UnansweredSources, "store" | "repository">) {
  return async (ref: KeyRef): Promise<OpenApproval | undefined> => {
    const left = await readInFlight(store, ref);
    if (left?.call?.state !== "asked" || left.call.approval === undefined) return undefined;
    const { deliveryId } = left.turn;
    if ((await repository.readChain(ref))?.latest !== left.sessionId) return undefined;
    if ((await findAnswer(repository, ref, deliveryId)) !== undefined) return undefined;
    return { sessionId: left.sessionId, deliveryId, approval: left.call.approval };
  };
}

/** Makes what finds the message of a key that nobody answered; `undefined` when there is none, also while a turn runs on the key. */
export function findUnanswered({ store, repository, locks }: UnansweredSources) {
  return async (ref: KeyRef): Promise<UnansweredMessage | undefined> => {
    const left = await readInFlight(store, ref);
    if (left === undefined || (await locks.holder(lockName(ref))) !== undefined) return undefined;
    const { deliveryId, text, startedAt: at } = left.turn;
    if ((await findAnswer(repository, ref, deliveryId)) !== undefined) return undefined;
    return { deliveryId, text, at, state: stateOf(left) };
  };
}

/** A tool waits for a person; the model had begun to answer; or nothing had happened yet. */
function stateOf({ call, messages }: InFlight): UnansweredMessage["state"] {
  if (call?.state === "asked") return "waits";
  return messages.some((message) => AIMessage.isInstance(message)) ? "begun" : "nothing";
}
