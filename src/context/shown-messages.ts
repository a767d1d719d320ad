/**
 * What a model is shown of a conversation, in the messages that the transcript stores: whole, with tool results as a line
 * each, or shortened; and the same for the steps of the turn in flight.
 */
import { joined } from "#src/kernel/markdown.ts";
import { ATTACHMENT_TOKENS, estimateTokens, MESSAGE_OVERHEAD_TOKENS } from "#src/kernel/text.ts";
import { attachmentText, type Message } from "#src/sessions/message.ts";
import type { CallReceipt } from "#src/sessions/call-receipt.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { cutText } from "./cut-text.ts";

/** Estimated tokens of messages. */
export function messagesTokens(messages: readonly Message[]): number {
  return messages.reduce((sum, message) => sum + messageTokens(message), 0);
}

/** Estimated tokens of one message; its pictures and files count alike, because their size says little of their cost. */
export function messageTokens(message: Pick<Message, "content" | "toolCalls" | "attachments">): number {
  const calls = (message.toolCalls ?? []).reduce(
    (sum, call) => sum + estimateTokens(call.name + call.arguments),
    0,
  );
  const attachments = (message.attachments ?? []).length * ATTACHMENT_TOKENS;
  return MESSAGE_OVERHEAD_TOKENS + estimateTokens(message.content) + calls + attachments;
}

/**
 * What a model is shown of a committed turn. Commands are housekeeping and are left out, except one that recalled
 * something; an answer that was cut says so.
 */
export function contextMessages(turn: TurnRecord): readonly Message[] {
  if (turn.kind === "command" && turn.explanation.recalled === undefined) return [];
  const { messages } = turn;
  const ending = endingOf(turn);
  if (ending === undefined) return messages;
  return messages.map((message, index) =>
    index === messages.length - 1 && message.role === "assistant"
      ? { ...message, content: `${message.content} ${ending}`.trim() }
      : message,
  );
}

/** What is said behind an answer that was cut; the other limits end a turn between answers. */
function endingOf({ status, explanation }: TurnRecord): string | undefined {
  if (status === "stopped") return "[the user stopped this answer]";
  return status === "limited" && explanation.limit?.kind === "time"
    ? "[the time limit ended this answer]"
    : undefined;
}

/** Whose results are named. */
type TurnRef = Pick<TurnRecord, "sessionId" | "turn">;

/** What `read_result` takes for the `count`th tool result of a turn, from 1; the end of a session's id tells which it is. */
function resultName({ sessionId, turn }: TurnRef, count: number): string {
  return `${sessionId.slice(-12)}.${turn}.${count}`;
}

/** What a name of {@link resultName} stands for; `undefined` for any other text. */
export function parseResultName(
  name: string,
): { sessionEnd: string; turn: number; count: number } | undefined {
  const [, sessionEnd = "", turn, count] = /^([\w-]{1,12})\.(\d{1,9})\.(\d{1,9})$/u.exec(name) ?? [];
  return turn === undefined ? undefined : { sessionEnd, turn: Number(turn), count: Number(count) };
}

/** The messages with each tool result as a line that names it, where that is shorter. */
export function collapsedMessages(messages: readonly Message[], named: NamedResults): Message[] {
  return messages.map((message) => (message.role === "tool" ? collapsed(message, named) : message));
}

/** Names of the results of a turn, and the tools that they are of. */
export interface NamedResults {
  readonly nameOf: (result: Message) => string;
  readonly toolOf: (result: Message) => string;
}

/** @param messages of a turn, as they are stored */
export function nameResults(messages: readonly Message[], ref: TurnRef): NamedResults {
  const names = new Map(
    messages
      .filter(({ role }) => role === "tool")
      .map((message, index) => [message, resultName(ref, index + 1)]),
  );
  // Some servers number the calls of each message anew: a result is of the last call before it.
  const tools = new Map<Message, string>();
  const calls = new Map<string, string>();
  for (const message of messages) {
    for (const { id, name } of message.toolCalls ?? []) calls.set(id, name);
    if (message.role === "tool") tools.set(message, calls.get(message.toolCallId ?? "") ?? "");
  }
  return { nameOf: (result) => names.get(result) ?? "", toolOf: (result) => tools.get(result) ?? "" };
}

function collapsed(result: Message, { nameOf, toolOf }: NamedResults): Message {
  const { length } = result.content;
  const content = `[result of ${toolOf(result).slice(0, 64)} left out: ${length} characters; read_result reads it by the name ${nameOf(result)}]`;
  return estimateTokens(content) < estimateTokens(result.content) ? { ...result, content } : result;
}

/** What was asked and answered in at most `tokens`, without the steps between them. */
export function shortenedMessages(messages: readonly Message[], tokens: number): Message[] {
  const user = messages.find(({ role }) => role === "user");
  const last = messages.findLast(({ role, content }) => role === "assistant" && content.trim() !== "");
  const calls = messages.reduce((sum, { toolCalls = [] }) => sum + toolCalls.length, 0);
  const room = tokens - 2 * MESSAGE_OVERHEAD_TOKENS;
  const carried = (user?.attachments ?? []).map(attachmentText).join(" ");
  const left = calls === 0 ? "" : `[${calls} tool ${calls === 1 ? "call" : "calls"} left out]\n`;
  const asked = cutText(joined([user?.content, carried], "\n"), Math.floor(room * 0.4));
  const answered = cutText(`${left}${last?.content ?? ""}`, room - estimateTokens(asked));
  return [
    ...(user === undefined ? [] : [{ role: user.role, content: asked, timestamp: user.timestamp }]),
    ...(answered === ""
      ? []
      : [{ role: "assistant" as const, content: answered, timestamp: last?.timestamp ?? "" }]),
  ];
}

/** A message of the model in the turn in flight, with the results of its calls. */
export type Step = readonly Message[];

/** The steps in the messages behind the user's. */
export function stepsOf(messages: readonly Message[]): Step[] {
  const steps: Message[][] = [];
  for (const message of messages) {
    const last = steps.at(-1);
    if (last === undefined || message.role !== "tool") steps.push([message]);
    else last.push(message);
  }
  return steps;
}

/** How the steps of a turn were given. */
export type GivenSteps = NonNullable<CallReceipt["steps"]>;

/** The messages of the steps that are given, in the form in which they are. */
export function stepMessages(
  steps: readonly Step[],
  { out, collapsed: count, resultTokens }: Pick<GivenSteps, "out" | "collapsed" | "resultTokens">,
  named: NamedResults,
): Message[] {
  return steps.flatMap((step, index) => {
    if (index < out) return [];
    if (index < out + count) return collapsedMessages(step, named);
    if (index < steps.length - 1 || resultTokens === undefined) return [...step];
    return step.map((message) =>
      message.role === "tool" ? cutResult(message, resultTokens, named) : message,
    );
  });
}

/** A result that the model has not read yet: its beginning, and how to read on. */
function cutResult(result: Message, tokens: number, named: NamedResults): Message {
  if (messageTokens(result) <= tokens) return result;
  const line = collapsed(result, named);
  if (messageTokens(line) >= tokens) return line;
  const { content } = result;
  const note = (from: number): string =>
    `[characters 0 to ${from} of ${content.length}; read_result reads on by the name ${named.nameOf(result)} from ${from}]`;
  const cut = { ...result, content: cutText(content, tokens - MESSAGE_OVERHEAD_TOKENS, { tail: 0, note }) };
  return messageTokens(cut) <= tokens ? cut : line;
}
