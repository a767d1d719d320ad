/** The port to chat models: from a reference to something that answers messages. */
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { z } from "zod";

export const chatModelOptionsSchema = z.strictObject({
  /** Sampling temperature. Left out, the server decides; some reasoning models refuse any value. */
  temperature: z.number().min(0).max(2).optional(),
  /** How long it answers. Left out, the server decides; many know no such setting. */
  verbosity: z.enum(["low", "medium", "high"]).optional(),
  /** How long a reasoning model thinks. Left out, the server decides; models without reasoning may refuse it. */
  reasoningEffort: z.enum(["none", "minimal", "low", "medium", "high", "xhigh", "max"]).optional(),
});

/** How a model is to answer, beside which model it is. */
export type ChatModelOptions = z.infer<typeof chatModelOptionsSchema>;

/** Source of chat models. */
export interface ChatModels {
  /**
   * The model that `reference` names. Its calls make one attempt each: retries are the caller's, with `withRetries`.
   *
   * @throws {LilyError} `model_unknown` when this source has no such model (`symbolic` is never one);
   *   `config_invalid` when the server is not configured.
   */
  chatModel(reference: string, options?: ChatModelOptions): Promise<BaseChatModel>;

  /**
   * What is to be said of a model, each sentence once: which abilities its server has refused, so that they are left out.
   *
   * @throws {LilyError} `model_unknown`
   */
  takeNotices?(reference: string): readonly string[];
}
