/** Chooses which committed turns a model is given: the newest that fit, whole turns only. */
import { estimateTokens, MESSAGE_OVERHEAD_TOKENS } from "#src/kernel/tokens.ts";
import type { Message } from "#src/sessions/message.ts";
import type { Receipt, TurnRecord } from "#src/sessions/turn-record.ts";

/** The chosen turns, oldest first, and what they cost. */
export interface SelectedTurns {
  readonly turns: readonly TurnRecord[];
  readonly tokens: number;
  /** Ranges by session, oldest first. */
  readonly ranges: Receipt["turns"];
}

/** Takes turns from the newest to the oldest while they fit in `budgetTokens`; stops at the first that does not. */
export async function selectTurns(
  newestFirst: AsyncIterable<TurnRecord>,
  budgetTokens: number,
): Promise<SelectedTurns> {
  const turns: TurnRecord[] = [];
  let tokens = 0;
  for await (const turn of newestFirst) {
    const messages = contextMessages(turn);
    if (messages.length === 0) continue;
    const cost = messages.reduce((sum, message) => sum + messageTokens(message), 0);
    if (tokens + cost > budgetTokens) break;
    tokens += cost;
    turns.unshift(turn);
  }
  return { turns, tokens, ranges: rangesOf(turns) };
}

/** Estimated tokens of one message. */
export function messageTokens(message: Pick<Message, "content" | "toolCalls">): number {
  const calls = (message.toolCalls ?? []).reduce(
    (sum, call) => sum + estimateTokens(call.name + call.arguments),
    0,
  );
  return MESSAGE_OVERHEAD_TOKENS + estimateTokens(message.content) + calls;
}

/**
 * What a model is shown of a committed turn. Commands are housekeeping and are left out, except one that recalled
 * something; an answer that was stopped says so.
 */
export function contextMessages(turn: TurnRecord): Message[] {
  if (turn.kind === "command" && turn.explanation.recalled === undefined) return [];
  if (turn.status !== "stopped") return turn.messages;
  return turn.messages.map((message, index) =>
    index === turn.messages.length - 1 && message.role === "assistant"
      ? { ...message, content: `${message.content} [the user stopped this answer]`.trim() }
      : message,
  );
}

function rangesOf(turns: readonly TurnRecord[]): Receipt["turns"] {
  const ranges: Receipt["turns"] = [];
  for (const { sessionId, turn } of turns) {
    const last = ranges.at(-1);
    if (last?.sessionId === sessionId) last.to = turn;
    else ranges.push({ sessionId, from: turn, to: turn });
  }
  return ranges;
}
