/** One question to a control model, beside the answer that a person waits for: time-boxed, never streamed, never thrown. */
import type { BaseMessage } from "@langchain/core/messages";
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
  /** Calls back after a time, until the returned function is called; the timers of the platform by default. */
  readonly startTimer?: (ms: number, onTime: () => void) => () => void;
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
  options: ControlModelOptions,
  messages: readonly BaseMessage[],
): Promise<ControlAnswer> {
  const { deadlineMs, signal, startTimer = platformTimer } = options;
  const giveUp = new AbortController();
  let stopTimer = (): void => undefined;
  const late = new Promise<ControlAnswer>((resolve) => {
    const end = (why: string) => (): void => {
      resolve({ kind: "none", why, isLate: true });
      giveUp.abort();
    };
    stopTimer = startTimer(deadlineMs, end(`the control model did not answer within ${deadlineMs / 1000} s`));
    giveUp.signal.addEventListener("abort", end("the control model was not waited for"));
    signal?.addEventListener("abort", () => giveUp.abort(), { once: true, signal: giveUp.signal });
  });
  // The race, and not the signal alone: a model that ignores the signal must not hold up the reply either.
  const answer = await Promise.race([ask(options, messages, giveUp.signal), late]);
  stopTimer();
  giveUp.abort();
  return answer;
}

/** Never rejects. */
async function ask(
  { model, models }: ControlModelOptions,
  messages: readonly BaseMessage[],
  signal: AbortSignal,
): Promise<ControlAnswer> {
  try {
    const chatModel = await models.chatModel(model);
    // Callbacks of the running turn would stream this answer to the user as if it were the reply.
    const reply = await chatModel.invoke([...messages], { signal, callbacks: [], tags: ["nostream"] });
    const text = reply.text.trim();
    return text === ""
      ? { kind: "none", why: "the control model answered with no text" }
      : { kind: "text", text, ...tokensOf(reply.usage_metadata) };
  } catch (error) {
    return { kind: "none", why: `the control model failed: ${classifyModelError(error).message}` };
  }
}

/** Some servers send no numbers. */
function tokensOf(usage: { readonly total_tokens?: unknown } | undefined): { tokens?: number } {
  const total = usage?.total_tokens;
  return typeof total === "number" && total > 0 ? { tokens: Math.round(total) } : {};
}

function platformTimer(ms: number, onTime: () => void): () => void {
  const timer = setTimeout(onTime, ms);
  return () => clearTimeout(timer);
}
