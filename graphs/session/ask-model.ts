/** Asks a reply model, streamed: with retries, then the fallbacks; what ends it early keeps what was written so far. */
import { AIMessage, type AIMessageChunk, type BaseMessage } from "@langchain/core/messages";
import type { Runnable, RunnableConfig } from "@langchain/core/runnables";
import { concat } from "@langchain/core/utils/stream";
import { z } from "zod";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { messageTokens } from "#src/context/shown-messages.ts";
import { orAborted, toInstant } from "#src/kernel/clock.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { defined } from "#src/kernel/json.ts";
import { cutNotice, cutOf, finalMessage } from "#src/models/final-message.ts";
import { classifyModelError, modelFailedError } from "#src/models/model-errors.ts";
import { withRetries } from "#src/models/retry-model.ts";
import { type CallReceipt, tokensIn } from "#src/sessions/call-receipt.ts";
import type { FailedAttempt } from "#src/sessions/turn-record.ts";
import { contentText, fromLangChain } from "#src/turns/langchain-messages.ts";
import type { CallGuard } from "./budget.ts";
import type { NodeRuntime } from "./run-context.ts";
import { asksForTools } from "./turn-messages.ts";

/** A runtime that also carries what a LangChain call needs. */
export type CallRuntime = NodeRuntime & Pick<RunnableConfig, "callbacks" | "signal" | "metadata" | "tags">;

interface Question {
  /** Plans a call of a model; once more, more strictly, where its server has found the first one too long. */
  readonly prepare: (reference: string, after: { readonly isAfterTooLong: boolean }) => Promise<PreparedCall>;
  readonly runtime: CallRuntime;
  readonly guard: CallGuard;
  /** Given what there is of the answer when the run itself ends. */
  readonly onCancelled: (partial: AIMessage) => Promise<void>;
}

/** A call that can be made. */
interface PreparedCall {
  /** With the tools that it is offered. */
  readonly model: Runnable<BaseMessage[], AIMessageChunk>;
  readonly messages: BaseMessage[];
  readonly receipt: CallReceipt;
}

/** What a model answered. */
export interface Answer {
  /** What it was given. */
  readonly receipt: CallReceipt;
  /** Reference of the model that answered. */
  readonly model: string;
  readonly message: AIMessage;
  /** What ended it early. */
  readonly endedBy?: "stop" | "time";
  /** Calls that failed before it. */
  readonly attempts: readonly FailedAttempt[];
}

/** Time in which an aborted stream may still end by itself; what it says meanwhile is kept. */
const GRACE_MS = 500;

/**
 * The answer of the first of `references` that gives one. The next one is asked when one has failed for good and nothing
 * of its answer was shown; one that found its prompt too long is asked again with half of it.
 *
 * @throws {LilyError} `model_failed` with what the first one failed of; `failedAttempts.of` gives the calls that failed
 */
export async function askFirstThatAnswers(
  deps: SessionDeps,
  references: readonly string[],
  question: Question,
): Promise<Answer> {
  const attempts: FailedAttempt[] = [];
  let first: unknown;
  for (const model of references) {
    const onFailure = ({ kind }: { readonly kind: string }): void =>
      void attempts.push({ model, kind, at: toInstant(deps.clock.now()) });
    for (const isAfterTooLong of [false, true]) {
      let receipt: CallReceipt | undefined;
      try {
        const call = await question.prepare(model, { isAfterTooLong });
        ({ receipt } = call);
        return {
          model,
          attempts,
          receipt: call.receipt,
          ...(await ask(deps, call, { ...question, onFailure })),
        };
      } catch (error) {
        first ??= error;
        const { streamed, kind } = classifyModelError(error);
        // A fallback would be sent the same messages.
        if (question.guard.signal.aborted || streamed || kind === "bad_messages")
          throw failedAttempts.attach(modelFailedError(first), attempts);
        if (kind !== "context_length" || receipt === undefined) break;
        deps.windows.tooLong(model, tokensIn(receipt));
      }
    }
  }
  throw failedAttempts.attach(modelFailedError(first), attempts);
}

/** What has come of an answer so far. */
type Partly = { chunk: AIMessageChunk | undefined };

async function ask(
  deps: SessionDeps,
  call: PreparedCall,
  asking: Question & { readonly onFailure: (failure: { readonly kind: string }) => void },
): Promise<Pick<Answer, "message" | "endedBy">> {
  const { guard, onFailure } = asking;
  const partial: Partly = { chunk: undefined };
  const grace = (ended: AbortSignal): Promise<void> => deps.sleep(GRACE_MS, ended);
  try {
    const message = await withRetries(
      () => orAborted(stream(call, asking, partial), { signal: guard.signal, grace }),
      {
        sleep: deps.sleep,
        signal: guard.signal,
        random: deps.random,
        leftMs: guard.leftMs,
        onFailure,
      },
    );
    return { message };
  } catch (error) {
    const endedBy = guard.endedBy();
    if (endedBy === undefined) throw error;
    const message = partialMessage(deps, partial.chunk);
    if (endedBy !== "run") return { message, endedBy };
    await asking.onCancelled(message);
    throw error;
  }
}

async function stream(
  { model, messages }: PreparedCall,
  { runtime, guard }: Question,
  partial: Partly,
): Promise<AIMessage> {
  partial.chunk = undefined;
  const { callbacks, metadata, tags } = runtime;
  const config: RunnableConfig = { signal: guard.signal, ...defined({ callbacks, metadata, tags }) };
  for await (const chunk of await model.stream(messages, config)) {
    partial.chunk = partial.chunk === undefined ? chunk : concat(partial.chunk, chunk);
  }
  // A model that was stopped may end as if it had said all.
  guard.signal.throwIfAborted();
  if (partial.chunk === undefined) throw new LilyError("model_failed", "the model sent nothing");
  const message = finalMessage(partial.chunk);
  if (contentText(message.content).trim() !== "" || asksForTools(message)) return message;
  const cut = cutOf(message);
  throw new LilyError(
    "model_failed",
    cut === undefined ? "the model answered with nothing" : `${cutNotice(cut)} Nothing of it had come`,
    {
      next: "Send the message again, or choose another model with /model. It was not stored.",
    },
  );
}

/** The text so far; a tool call that was half written is dropped. */
function partialMessage(deps: SessionDeps, chunk: AIMessageChunk | undefined): AIMessage {
  const content = chunk === undefined ? "" : contentText(chunk.content);
  return new AIMessage({ content, id: chunk?.id ?? deps.ids.uuid() });
}

/** Newest ones that are kept: four models with three attempts each. */
const MAX_ATTEMPTS = 12;

const carried = new WeakMap<object, readonly FailedAttempt[]>();

/** Failed calls with the error that they led to, and in a list. */
export const failedAttempts = {
  /** Puts the calls with `error`. Returns the error. */
  attach(error: LilyError, attempts: readonly FailedAttempt[]): LilyError {
    carried.set(error, attempts);
    return error;
  },

  /** The calls that were put with an error. */
  of(error: unknown): readonly FailedAttempt[] {
    return typeof error === "object" && error !== null ? (carried.get(error) ?? []) : [];
  },

  /**
   * The field that holds the newest of both; none when there are none.
   *
   * @param call which model call of the turn, from 1, those of `after` were tries of
   */
  join(
    before: readonly FailedAttempt[] | undefined,
    after: readonly FailedAttempt[],
    call = 1,
  ): { readonly attempts?: FailedAttempt[] } {
    const attempts = [...(before ?? []), ...after.map((one) => (call > 1 ? { ...one, call } : one))].slice(
      -MAX_ATTEMPTS,
    );
    return attempts.length === 0 ? {} : { attempts };
  },
};

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
