/** Counts the tokens of one model call: as the model counted them, else by estimate. */
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import { z } from "zod";
import { estimateTokens, MESSAGE_OVERHEAD_TOKENS } from "#src/kernel/tokens.ts";
import { contentText } from "#src/turns/langchain-messages.ts";
import type { TurnInFlight } from "./state.ts";

/** What providers send of it is checked: some send nothing, some zeros, some no numbers. */
const usageSchema = z.object({ input_tokens: z.number().min(0), output_tokens: z.number().min(0) });

/**
 * Tokens that a call read and wrote.
 *
 * @param turn whose receipt has the tokens of the prompt and of the user's message
 * @param others the other messages in flight that the model was given
 */
export function tokensOfCall(
  turn: Pick<TurnInFlight, "receipt">,
  others: readonly BaseMessage[],
  answer: AIMessage,
): number {
  const usage = usageSchema.safeParse(answer.usage_metadata).data;
  const counted = usage === undefined ? 0 : Math.round(usage.input_tokens + usage.output_tokens);
  if (counted > 0) return counted;
  const prompt = Object.values(turn.receipt?.tokens ?? {}).reduce((sum, tokens) => sum + tokens, 0);
  return [...others, answer].reduce((sum, message) => sum + tokensOf(message), prompt);
}

function tokensOf(message: BaseMessage): number {
  const calls = AIMessage.isInstance(message) ? JSON.stringify(message.tool_calls) : "";
  return MESSAGE_OVERHEAD_TOKENS + estimateTokens(contentText(message.content)) + estimateTokens(calls);
}
