/** Counts the tokens of one model call: as the model counted them, else by estimate. */
import type { AIMessage } from "@langchain/core/messages";
import { z } from "zod";
import { messageTokens } from "#src/context/shown-messages.ts";
import { fromLangChain } from "#src/turns/langchain-messages.ts";

/** What providers send of it is checked: some send nothing, some zeros, some no numbers. */
const usageSchema = z.object({ input_tokens: z.number().min(0), output_tokens: z.number().min(0) });

/** Tokens of a prompt and of its answer. `counted` and `written`: those of each as the server says. */
export interface CallTokens {
  readonly total: number;
  readonly counted?: number;
  readonly written?: number;
}

/** @param prompt by estimate */
export function tokensOfCall(prompt: number, answer: AIMessage): CallTokens {
  const usage = usageSchema.safeParse(answer.usage_metadata).data;
  const total = usage === undefined ? 0 : Math.round(usage.input_tokens + usage.output_tokens);
  if (usage !== undefined && total > 0)
    return { total, counted: Math.round(usage.input_tokens), written: Math.round(usage.output_tokens) };
  return { total: prompt + messageTokens(fromLangChain(answer, "")) };
}
