/** The rules of the `messages` channel: what may enter it, and how a message that is no conversation is marked. */
import {
  AIMessage,
  HumanMessage,
  RemoveMessage,
  ToolMessage,
  coerceMessageLikeToMessage,
  type BaseMessage,
} from "@langchain/core/messages";
import { messagesStateReducer, type Messages } from "@langchain/langgraph";
import { deriveUuid } from "#src/kernel/ids.ts";
import { defined } from "#src/kernel/json.ts";

/** What a caller sends at once, as the input of a run. */
export interface SentMessages {
  readonly sent: Messages;
}

/** What a node, a caller of `updateState`, or the input of a run may write to `messages`. */
export type MessagesUpdate = Messages | SentMessages;

interface Mark {
  /** Said beside the conversation: shown, never stored in a transcript, never given to a model. */
  readonly notice?: boolean;
  /** The id under which this message was there before. */
  readonly redelivers?: string;
  /** Why what the caller sent is not a message. */
  readonly malformed?: string;
  /** It came with others, as the input of the latest run. */
  readonly together?: boolean;
  /** The id of an answer or a result that a caller sent, or of one that somebody wanted to write anew by `updateState`. */
  readonly rewrites?: string;
}

/** The mark that a message carries, if it carries one. */
export function markOf(message: BaseMessage): Mark {
  const mark: unknown = message.additional_kwargs["lily"];
  return typeof mark === "object" && mark !== null ? mark : {};
}

/** The id under which a message was delivered: its own, unless it is a later copy. */
export function deliveredId(message: BaseMessage): string | undefined {
  return markOf(message).redelivers ?? message.id;
}

/** A message of Lily's that is not part of the conversation. */
export function noticeMessage(text: string, id: string): AIMessage {
  return new AIMessage({ content: text, id, additional_kwargs: { lily: { notice: true } satisfies Mark } });
}

/** The same user message with other content, or under other marks. */
export function userMessageWith(
  { additional_kwargs, content, id }: BaseMessage,
  others: Partial<Pick<BaseMessage, "additional_kwargs" | "content">>,
): HumanMessage {
  return new HumanMessage({ additional_kwargs, content, ...defined({ id }), ...others });
}

/** The removal of a message from the channel. */
export function removalOf(message: BaseMessage): RemoveMessage {
  return new RemoveMessage({ id: message.id ?? "" });
}

/** Whether `message` is a notice. */
export function isNotice(message: BaseMessage): boolean {
  return markOf(message).notice === true;
}

/** Whether `message` is an answer or a result that is not Lily's: it is told of, and part of no turn. */
export function isWrittenByHand(message: BaseMessage): boolean {
  return markOf(message).rewrites !== undefined;
}

/**
 * LangGraph's `messagesStateReducer`, but for six things:
 * - what is no message becomes a marked one, so that `admit` can refuse it in words;
 * - a user message whose id is there already is a repeated delivery: a copy under an id of its own goes to the end;
 * - any other message whose id is there already is dropped from the input of a run; from `updateState` it goes to the end as a
 *   marked copy, of which the user is told;
 * - an answer or a result that is new in the input of a run becomes such a copy too;
 * - user messages that come in one input are marked as such;
 * - a result that a caller sends for a call in the state is dropped: agent-chat-ui says of every open call that it was handled.
 */
export function reduceMessages(before: BaseMessage[], right: MessagesUpdate): BaseMessage[] {
  if (!isSent(right)) return reduce(before, listOf(right));
  const left = before.map((message) =>
    markOf(message).together === true ? asTogether(message, false) : message,
  );
  const after = reduce(left, listOf(right.sent), { isSent: true });
  const isNew = (message: BaseMessage): boolean =>
    HumanMessage.isInstance(message) && !left.includes(message);
  if (after.filter(isNew).length < 2) return after;
  return after.map((message) => (isNew(message) ? asTogether(message, true) : message));
}

/** An update as the input of a run. */
export function asSent(update: MessagesUpdate): MessagesUpdate {
  return isSent(update) ? update : { sent: update };
}

function isSent(update: MessagesUpdate): update is SentMessages {
  return typeof update === "object" && update !== null && "sent" in update;
}

function reduce(left: BaseMessage[], right: readonly unknown[], { isSent = false } = {}): BaseMessage[] {
  const known = new Set(left.map((message) => message.id));
  const calls = new Set(left.flatMap((message) => (AIMessage.isInstance(message) ? callIds(message) : [])));
  const isForgedResult = (message: BaseMessage): boolean =>
    isSent && ToolMessage.isInstance(message) && calls.has(message.tool_call_id);
  const incoming = apart(right.map(toMessage)).filter((message) => !isForgedResult(message));
  const accepted: BaseMessage[] = [];
  const superseded: BaseMessage[] = [];
  for (const message of incoming) {
    const isKnown = message.id !== undefined && known.has(message.id);
    if (RemoveMessage.isInstance(message)) {
      if (message.id === REMOVE_ALL) accepted.push(message);
      // Applied first: the same update may bring a message back under its id, at its new place.
      else if (isKnown) superseded.push(message);
      // What the same update has brought before goes too: one update may be what two nodes did after each other.
      const brought = accepted.findIndex(({ id }) => id === message.id);
      if (brought !== -1 && message.id !== REMOVE_ALL) accepted.splice(brought, 1);
      known.delete(message.id);
    } else if (!isKnown && (!isSent || HumanMessage.isInstance(message))) {
      accepted.push(message);
    } else if (HumanMessage.isInstance(message)) {
      const copy = laterCopy(message);
      if (known.has(copy.id)) superseded.push(new RemoveMessage({ id: copy.id ?? "" }));
      accepted.push(copy);
    } else if (!isKnown || !isSent) {
      accepted.push(writtenByHand(message));
    }
  }
  return messagesStateReducer(without(left, superseded), accepted);
}

function callIds({ tool_calls: calls = [] }: AIMessage): (string | undefined)[] {
  return calls.map(({ id }) => id);
}

function without(messages: BaseMessage[], removals: readonly BaseMessage[]): BaseMessage[] {
  const removed = new Set(removals.map(({ id }) => id));
  return messages.filter(({ id }) => !removed.has(id));
}

/** Two user messages of one id in one update stay two, so that they can be refused instead of one of them vanishing. */
function apart(incoming: readonly BaseMessage[]): BaseMessage[] {
  const seen = new Set<string>();
  return incoming.map((message) => {
    if (!HumanMessage.isInstance(message) || message.id === undefined) return message;
    if (seen.has(message.id)) return new HumanMessage({ content: message.content });
    seen.add(message.id);
    return message;
  });
}

const REMOVE_ALL = "__remove_all__";

function listOf(update: Messages): unknown[] {
  return Array.isArray(update) ? update : [update];
}

/** The same message under an id of its own, so that it can stand later in the list. */
export function laterCopy(message: HumanMessage): HumanMessage {
  const mark: Mark = { redelivers: deliveredId(message) ?? "" };
  return new HumanMessage({
    content: message.content,
    id: deriveUuid("redelivered", mark.redelivers ?? ""),
    additional_kwargs: { lily: mark },
  });
}

/** A copy that is part of no turn, of what would change an answer or pass for one. */
function writtenByHand(message: BaseMessage): AIMessage {
  const mark: Mark = { rewrites: message.id ?? "" };
  const id = deriveUuid("rewrites", message.id ?? "", JSON.stringify(message.content));
  return new AIMessage({ content: message.content, id, additional_kwargs: { lily: mark } });
}

/** The same user message, marked as one of several that came at once, or not so any more. */
function asTogether(message: BaseMessage, isTogether: boolean): BaseMessage {
  const { lily: _mark, ...others } = message.additional_kwargs;
  const { together: _before, ...kept } = markOf(message);
  const mark: Mark = isTogether ? { ...kept, together: true } : kept;
  return userMessageWith(message, {
    additional_kwargs: Object.keys(mark).length === 0 ? others : { ...others, lily: mark },
  });
}

function toMessage(value: unknown): BaseMessage {
  try {
    // Data from outside; the coercion itself decides whether it is a message.
    const message = coerceMessageLikeToMessage(value as Parameters<typeof coerceMessageLikeToMessage>[0]);
    if (message.content !== null && message.content !== undefined) return withoutForgedMark(message);
    return malformed("its content is missing");
  } catch {
    return malformed(value === null ? "it is null" : `what was sent (${typeof value}) is not a chat message`);
  }
}

/** A caller's user message cannot carry a mark of ours. */
function withoutForgedMark(message: BaseMessage): BaseMessage {
  if (!HumanMessage.isInstance(message) || message.additional_kwargs["lily"] === undefined) return message;
  const { lily: _forged, ...kept } = message.additional_kwargs;
  return userMessageWith(message, { additional_kwargs: kept });
}

function malformed(why: string): HumanMessage {
  return new HumanMessage({ content: "", additional_kwargs: { lily: { malformed: why } satisfies Mark } });
}
