/** What stands in `messages` for clients: the newest committed turns, and what is said beside them; the transcript has the rest. */
import { type BaseMessage, HumanMessage, RemoveMessage } from "@langchain/core/messages";
import type { z } from "zod";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { beginningText, rolloverAnnouncement } from "#src/explain/verdict-text.ts";
import { type Chain, entryOf } from "#src/sessions/chain.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { replyText } from "#src/kernel/envelope.ts";
import type { Attachment } from "#src/sessions/message.ts";
import type { KeyRef } from "#src/sessions/repository.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import {
  attachmentsOf,
  contentOf,
  contentText,
  describedContent,
  toLangChain,
} from "#src/turns/langchain-messages.ts";
import { noticeMessage, removalOf, userMessageWith } from "./messages.ts";
import type { RunContext } from "./run-context.ts";
import type { SessionStateValues, SessionUpdate, windowSchema } from "./state.ts";

type Window = z.infer<typeof windowSchema>;

/** Number of an entry that is no turn: a message that is not answered in this thread, with what is said of it. */
const BESIDE = 0;

/** Messages that come into the window; the first is the user's. */
interface Added {
  /** Number of the committed turn, or {@link BESIDE}. */
  readonly turn: number;
  readonly messages: readonly BaseMessage[];
  /** What stood beside the turns for the same delivery goes: here is what became of it. */
  readonly deliveryId?: string;
}

/** The window as it is, and what changes in `messages` for it. */
interface Extended {
  readonly window: Window;
  readonly changes: readonly BaseMessage[];
}

/**
 * The window with messages added, and the removal of those that fell out of it. The newest entry always stays. Where a client is
 * shown the messages, so does the very first one, by which pages name a thread, with a hint behind it that others are not shown.
 *
 * @param messages of the state, without those that leave it; without them there is no hint yet
 */
export function extendWindow(
  window: Window,
  { turn, messages: added, deliveryId }: Added,
  { windowCharacters, isShown = false }: { readonly windowCharacters: number; readonly isShown?: boolean },
  messages: readonly BaseMessage[] = [],
): Extended {
  const entry = {
    turn,
    messageIds: added.map((message) => message.id ?? ""),
    characters: added.reduce((sum, message) => sum + charactersOf(message), 0),
    ...(turn === BESIDE && deliveryId !== undefined ? { deliveryId } : {}),
  };
  const before = window.filter((one) => one.deliveryId === undefined || one.deliveryId !== deliveryId);
  let characters = entry.characters;
  let first = before.length;
  for (; first > 0; first -= 1) {
    characters += before[first - 1]?.characters ?? 0;
    if (characters > windowCharacters) break;
  }
  const [opening] = before;
  const kept = isShown && first > 0 && opening !== undefined ? [beginOf(opening)] : [];
  const extended = [...kept, ...before.slice(first), entry];
  const staying = new Set(extended.flatMap(({ messageIds }) => messageIds));
  const removals = window
    .flatMap(({ messageIds }) => messageIds)
    .filter((id) => !staying.has(id))
    .map((id) => new RemoveMessage({ id }));
  const gone = new Set(removals.map(({ id }) => id));
  const hinted = withHint(
    extended,
    messages.filter(({ id }) => !gone.has(id ?? "")),
  );
  return { window: hinted.window, changes: [...removals, ...hinted.changes] };
}

const OPENED = ":opened";
const HINT = ":earlier";

/** Id of the notice that says why a session began. */
export const openedNoticeId = (sessionId: string): string => `${sessionId}${OPENED}`;

/** What is left of the first entry. It takes no room: there is one of it. */
function beginOf({ turn, messageIds }: Window[number]): Window[number] {
  const stays = (id: string, index: number): boolean =>
    index === 0 || id.endsWith(OPENED) || id.endsWith(HINT);
  return { turn, messageIds: messageIds.filter(stays), characters: 0, isCut: true };
}

/** The channel adds at its end alone, so what stands behind the first entry moves behind the hint; once. */
function withHint([opening, ...rest]: Window, messages: readonly BaseMessage[]): Extended {
  if (opening === undefined) return { window: [], changes: [] };
  const { messageIds, isCut } = opening;
  if (isCut !== true || messages.length === 0 || messageIds.some((id) => id.endsWith(HINT)))
    return { window: [opening, ...rest], changes: [] };
  const hint = noticeMessage(NOT_SHOWN, `${messageIds[0] ?? ""}${HINT}`);
  const behind = messages.filter(({ id }) => !messageIds.includes(id ?? ""));
  return {
    window: [{ ...opening, messageIds: [...messageIds, hint.id ?? ""] }, ...rest],
    changes: [...behind.map(removalOf), hint, ...behind],
  };
}

const NOT_SHOWN = "Earlier messages of this conversation are not shown here; `/history` lists them.";

/** Room that the reference of an attachment takes. */
const REFERENCE_CHARACTERS = 250;

/** So that a picture of 300 kB takes a third of a window of 12,000 characters. */
const BYTES_A_CHARACTER = 100;

function charactersOf({ content }: BaseMessage): number {
  const blocks: object[] = Array.isArray(content) ? content : [];
  const bytes = blocks.reduce(
    (sum, block) => sum + ("data" in block && typeof block.data === "string" ? block.data.length : 0),
    0,
  );
  const references = attachmentsOf(content).length * REFERENCE_CHARACTERS;
  return contentText(content).length + references + Math.ceil(bytes / BYTES_A_CHARACTER);
}

/** A message whose attachments are told in words: without their bytes a page shows nothing, or a broken picture. */
export function inWords(message: BaseMessage): BaseMessage {
  const attachments = HumanMessage.isInstance(message) ? attachmentsOf(message.content) : [];
  if (attachments.length === 0) return message;
  return userMessageWith(message, {
    content: describedContent(contentText(message.content), attachments),
  });
}

/** An empty window, and the removal of all that was in it. */
export function clearWindow(window: Window): Extended {
  const changes = window.flatMap((entry) => entry.messageIds.map((id) => new RemoveMessage({ id })));
  return { window: [], changes };
}

/** The messages of a stored turn, for `messages`. Ids are derived from the turn, the user's is the delivery id. */
export function messagesOf(record: TurnRecord): BaseMessage[] {
  const { envelope } = record.reply;
  const last = record.messages.length - 1;
  return record.messages.map((message, index) => {
    const id = index === 0 ? record.deliveryId : `${record.sessionId}:${record.turn}:${index}`;
    // Of a command's reply the transcript's own message is the headline.
    const whole = envelope !== undefined && index === last && index > 0;
    return inWords(toLangChain(whole ? { ...message, content: replyText(envelope) } : message, id));
  });
}

/** A message that another session answers. */
interface HandedOff {
  readonly ref: KeyRef;
  /** The session that answers. */
  readonly sessionId: string;
  readonly deliveryId: string;
  readonly text: string;
  readonly attachments: readonly Attachment[] | undefined;
  /** Messages of this thread that are no turn of it: they go, but for the user's. */
  readonly leaving: readonly BaseMessage[];
  /** The user's message, which stays to be seen, and why it is not answered here. */
  readonly message: BaseMessage;
  readonly why: string;
}

type Shown = Pick<SessionStateValues, "messages" | "window">;

/** Ends the run. A server learns of the thread, and starts its run where the caller does not follow by itself. */
export async function handOff(
  deps: SessionDeps,
  { followsHandoff }: Pick<RunContext, "followsHandoff">,
  { ref, sessionId, deliveryId, text, attachments, ...shown }: HandedOff,
  state: Shown,
): Promise<SessionUpdate> {
  const message = { id: deliveryId, content: contentOf(text, attachments) };
  const { owner, sessionKey } = ref;
  await deps.threads.start({ owner, sessionKey, sessionId, ...(followsHandoff ? {} : { message }) });
  const told = linkTo(sessionId, shown.why, "Your message is answered there");
  return {
    turn: null,
    reply: null,
    handoff: { sessionId, message },
    ...standBeside(deps, state, { ...shown, deliveryId, told }),
  };
}

/** Tells of a rollover that nobody asked for, with the first turn of the session that it began. */
export function announcementFor(chain: Chain, session: SessionFields): string | null {
  const verdict = entryOf(chain, session.sessionId)?.opened.verdict;
  if (session.turns > 0 || verdict === undefined || verdict.trigger === "command") return null;
  return rolloverAnnouncement(verdict, session.task);
}

/** Says in the thread of a session that another one led to why it began, with its first turn. */
export function openedNotice(chain: Chain, session: SessionFields): BaseMessage | undefined {
  const { sessionId, turns } = session;
  const entry = entryOf(chain, sessionId);
  if (turns > 0 || entry?.opened.verdict === undefined || entry.previous === null) return undefined;
  const why = announcementFor(chain, session) ?? beginningText(entry.opened.verdict);
  const text = linkTo(entry.previous, why, "The conversation before");
  return noticeMessage(text, openedNoticeId(sessionId));
}

/** A sentence with a link to a session's thread that chat pages can follow. */
export function linkTo(sessionId: string, sentence: string, label: string): string {
  return `${sentence} [${label}](?threadId=${sessionId})`;
}

/** The update by which a user's message that is no turn of this thread stays to be seen, with what is told of it. */
export function standBeside(
  { ids, limits }: Pick<SessionDeps, "ids" | "limits">,
  { messages: before, window }: Shown,
  shown: Pick<HandedOff, "deliveryId" | "leaving" | "message"> & { readonly told: string },
): Pick<SessionUpdate, "messages" | "window"> {
  const { deliveryId, leaving, message, told } = shown;
  // Under another id: sent again, the message is a new one to this thread.
  const said = new HumanMessage({ id: ids.uuid(), content: message.content });
  const notice = noticeMessage(told, ids.uuid());
  const added = { turn: BESIDE, messages: [said, notice], deliveryId };
  const staying = before.filter((one) => !leaving.includes(one));
  const extended = extendWindow(window, added, limits, staying);
  return {
    window: extended.window,
    messages: [...leaving.map(removalOf), ...extended.changes, said, notice],
  };
}
