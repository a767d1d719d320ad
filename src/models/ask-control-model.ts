/** One question to a control model, beside the answer that a person waits for: time-boxed, never streamed, never thrown. */
import type { BaseMessage } from "@langchain/core/messages";
import { orAborted } from "#src/kernel/clock.ts";
import type { ChatModels } from "./chat-model.ts";
import { classifyModelError } from "./model-errors.ts";

/** Whom to ask, and for how long. */
export interface ControlModelOptions {
  readonly models: ChatModels;
  /** Reference of the model. */
  readonly model: string;
  /** Longest wait for its word, in milliseconds. */
  readonly deadlineMs: number;
  /** Ends the wait. */
  readonly signal?: AbortSignal | undefined;
}

/** Its words, or why there are none. */
export type ControlAnswer =
  | {
      readonly kind: "text";
      readonly text: string;
      /** Of question and answer, as the model counted them. */
      readonly tokens?: number;
    }
  | {
      readonly kind: "none";
      readonly why: string;
      /** It had its time, or the wait was ended: nobody waits for another try either. */
      readonly isLate?: true;
    };

/** Asks. What comes after the deadline is dropped. */
export async function askControlModel(
  { models, model, deadlineMs, signal }: ControlModelOptions,
  messages: readonly BaseMessage[],
): Promise<ControlAnswer> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(), deadlineMs);
  const ends = signal === undefined ? late.signal : AbortSignal.any([signal, late.signal]);
  // Callbacks of the running turn would stream this answer to the user as if it were the reply.
  const options = { signal: ends, callbacks: [], tags: ["nostream"] };
  const ask = async () => (await models.chatModel(model)).invoke([...messages], options);
  try {
    // A model that ignores the signal must not hold up the reply either.
    const reply = await orAborted(ask(), { signal: ends });
    const text = reply.text.trim();
    return text === ""
      ? { kind: "none", why: "the control model answered with no text" }
      : { kind: "text", text, ...tokensOf(reply.usage_metadata) };
  } catch (error) {
    if (late.signal.aborted)
      return {
        kind: "none",
        why: `the control model did not answer within ${deadlineMs / 1000} s`,
        isLate: true,
      };
    if (ends.aborted) return { kind: "none", why: "the control model was not waited for", isLate: true };
    return { kind: "none", why: `the control model failed: ${classifyModelError(error).message}` };
  } finally {
    clearTimeout(timer);
  }
}

/** Some servers send no numbers. */
function tokensOf(usage: { readonly total_tokens?: unknown } | undefined): { tokens?: number } {
  const total = usage?.total_tokens;
  return typeof total === "number" && total > 0 ? { tokens: Math.round(total) } : {};
}
