/** Chooses which committed turns a model is given: the newest that fit, whole turns only. */
import { ATTACHMENT_TOKENS, estimateTokens, MESSAGE_OVERHEAD_TOKENS } from "#src/kernel/tokens.ts";
import type { Message } from "#src/sessions/message.ts";
import type { Receipt, TurnRecord } from "#src/sessions/turn-record.ts";

/** The chosen turns, and what they cost. */
export interface SelectedTurns {
  readonly tokens: number;
  /** Ranges by session, oldest first. */
  readonly ranges: Receipt["turns"];
}

/**
 * Takes turns from the newest to the oldest while they fit in `budgetTokens`; stops at the first that does not.
 *
 * @param tokensOf what is shown of a turn takes so many tokens; 0 when a model is shown nothing of it
 */
export async function selectTurns(
  newestFirst: AsyncIterable<readonly TurnRecord[]>,
  budgetTokens: number,
  tokensOf: (turn: TurnRecord) => number,
): Promise<SelectedTurns> {
  const chosen: TurnRecord[] = [];
  let tokens = 0;
  for await (const some of newestFirst) {
    for (const turn of some) {
      const cost = tokensOf(turn);
      if (tokens + cost > budgetTokens) return { tokens, ranges: rangesOf(chosen) };
      tokens += cost;
      if (cost > 0) chosen.push(turn);
    }
  }
  return { tokens, ranges: rangesOf(chosen) };
}

/** Estimated tokens of what a model is shown of a turn. */
export function contextTokens(turn: TurnRecord): number {
  return contextMessages(turn).reduce((sum, message) => sum + messageTokens(message), 0);
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
  const messages = pairedMessages(turn.messages);
  const ending = endingOf(turn);
  if (ending === undefined) return messages;
  return messages.map((message, index) =>
    index === messages.length - 1 && message.role === "assistant"
      ? { ...message, content: `${message.content} ${ending}`.trim() }
      : message,
  );
}

/**
 * A commit stores a result behind each call; of a turn that was changed by hand the calls and results that do not pair are
 * left out, because providers refuse them.
 */
function pairedMessages(messages: readonly Message[]): readonly Message[] {
  const results = new Set(messages.flatMap(({ toolCallId }) => toolCallId ?? []));
  const calls = new Set(messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id)));
  if (calls.size === results.size && [...calls].every((id) => results.has(id))) return messages;
  return messages.flatMap((message) => {
    if (message.role === "tool") return calls.has(message.toolCallId ?? "") ? [message] : [];
    const { toolCalls, ...rest } = message;
    const paired = (toolCalls ?? []).filter(({ id }) => results.has(id));
    if (toolCalls === undefined || paired.length === toolCalls.length) return [message];
    if (paired.length > 0) return [{ ...rest, toolCalls: paired }];
    return message.content.trim() === "" ? [] : [rest];
  });
}

/** What is said behind an answer that was cut; the other limits end a turn between answers. */
function endingOf({ status, explanation }: TurnRecord): string | undefined {
  if (status === "stopped") return "[the user stopped this answer]";
  return status === "limited" && explanation.limit?.kind === "time"
    ? "[the time limit ended this answer]"
    : undefined;
}

/** @param newestFirst the turns of a conversation without gaps other than between sessions */
function rangesOf(newestFirst: readonly TurnRecord[]): Receipt["turns"] {
  const ranges: Receipt["turns"] = [];
  for (const { sessionId, turn } of newestFirst) {
    const oldest = ranges.at(-1);
    if (oldest?.sessionId === sessionId) oldest.from = turn;
    else ranges.push({ sessionId, from: turn, to: turn });
  }
  return ranges.toReversed();
}
