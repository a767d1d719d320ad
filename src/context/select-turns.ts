/** Chooses which committed turns a model is given: the newest that fit, whole turns only. */
import { ATTACHMENT_TOKENS, estimateTokens, MESSAGE_OVERHEAD_TOKENS } from "#src/kernel/tokens.ts";
import type { Message } from "#src/sessions/message.ts";
import type { Receipt, TurnRecord } from "#src/sessions/turn-record.ts";

/** What a turn costs that is shown to a model; nothing when it is shown nothing of it. */
interface Costing {
  readonly tokens: number;
}

/** The chosen turns, oldest first, and what they cost. */
export interface SelectedTurns<Shown extends Costing> {
  /** What is shown of each. */
  readonly shown: readonly Shown[];
  readonly tokens: number;
  /** Ranges by session, oldest first. */
  readonly ranges: Receipt["turns"];
}

/**
 * Takes turns from the newest to the oldest while they fit in `budgetTokens`; stops at the first that does not.
 *
 * @param show what a model is shown of a turn
 */
export async function selectTurns<Shown extends Costing>(
  newestFirst: AsyncIterable<readonly TurnRecord[]>,
  budgetTokens: number,
  show: (turn: TurnRecord) => Shown,
): Promise<SelectedTurns<Shown>> {
  const chosen: TurnRecord[] = [];
  const shown: Shown[] = [];
  let tokens = 0;
  const end = (): SelectedTurns<Shown> => ({ shown: shown.toReversed(), tokens, ranges: rangesOf(chosen) });
  for await (const some of newestFirst) {
    for (const turn of some) {
      const one = show(turn);
      if (tokens + one.tokens > budgetTokens) return end();
      tokens += one.tokens;
      if (one.tokens === 0) continue;
      chosen.push(turn);
      shown.push(one);
    }
  }
  return end();
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
export function contextMessages(turn: TurnRecord): Message[] {
  if (turn.kind === "command" && turn.explanation.recalled === undefined) return [];
  const ending = endingOf(turn);
  if (ending === undefined) return turn.messages;
  return turn.messages.map((message, index) =>
    index === turn.messages.length - 1 && message.role === "assistant"
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
