/** Watches one streamed answer: what is cut, silent, empty or aborted ends in an error, never in a short answer. */
import { ModelAbortError } from "@langchain/core/errors";
import type { AIMessageChunk } from "@langchain/core/messages";
import type { ChatGenerationChunk } from "@langchain/core/outputs";

/** Why a stream counts as failed; `interrupted` means that the provider threw, and `cause` is what it threw. */
export type StreamFailure = "cut_stream" | "malformed" | "timeout" | "interrupted";

/** A model call that failed while its answer was read. */
export class ModelStreamError extends Error {
  override readonly name = "ModelStreamError";
  readonly failure: StreamFailure;
  /** Whether text or tool calls had reached the caller, so that a second attempt would show them twice. */
  readonly streamed: boolean;

  constructor(failure: StreamFailure, message: string, options: { streamed: boolean; cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.failure = failure;
    this.streamed = options.streamed;
  }
}

/** Whether `error` is a {@link ModelStreamError}, also one made by another copy of this module. */
export function isModelStreamError(error: unknown): error is ModelStreamError {
  return error instanceof Error && error.name === "ModelStreamError" && "failure" in error;
}

/** What ends a stream early. */
export interface StreamLimits {
  /** Aborted by the caller. */
  readonly signal?: AbortSignal | undefined;
  /** Longest silence in milliseconds, before the first chunk and between chunks. Left out, there is no limit. */
  readonly silenceMs?: number | undefined;
}

/**
 * Passes on the chunks of `open(signal)` as they come. The source must end when `signal` is aborted, and must say
 * `finish_reason` in the `generationInfo` of a last chunk; the guard copies it to the message's `response_metadata`.
 *
 * @throws {ModelStreamError} when the answer ends without a finish reason, holds nothing at all, falls silent, or
 *   fails after part of it was passed on. What fails before that is thrown as it came.
 * @throws {ModelAbortError} with the part that had come, when the caller aborts; LangChain's own stream would just end.
 */
export async function* guardStream(
  open: (signal: AbortSignal) => AsyncIterable<ChatGenerationChunk>,
  limits: StreamLimits,
): AsyncGenerator<ChatGenerationChunk> {
  const stall = new AbortController();
  const signal = limits.signal === undefined ? stall.signal : AbortSignal.any([limits.signal, stall.signal]);
  const received: ChatGenerationChunk[] = [];
  const chunks = open(signal)[Symbol.asyncIterator]();
  let thrown: { readonly error: unknown } | undefined;
  try {
    for (;;) {
      const { silenceMs } = limits;
      const timer = silenceMs === undefined ? undefined : setTimeout(() => stall.abort(), silenceMs);
      const { done, value } = await chunks.next().finally(() => clearTimeout(timer));
      if (done === true) break;
      publishFinishReason(value);
      received.push(value);
      yield value;
    }
  } catch (error) {
    thrown = { error };
  } finally {
    await chunks.return?.();
  }
  const streamed = hasStreamed(received);
  if (limits.signal?.aborted === true) throw abortError(received);
  if (stall.signal.aborted) throw new ModelStreamError("timeout", "The server fell silent.", { streamed });
  if (thrown !== undefined && !streamed) throw thrown.error;
  if (thrown !== undefined)
    throw new ModelStreamError("interrupted", "The answer broke off.", { streamed, cause: thrown.error });
  if (received.length === 0)
    throw new ModelStreamError("malformed", "The server sent no answer in the chat completions format.", {
      streamed,
    });
  if (received.some((chunk) => typeof chunk.generationInfo?.["finish_reason"] === "string")) return;
  throw new ModelStreamError("cut_stream", "The answer ended without a finish reason.", { streamed });
}

/** LangChain keeps the finish reason out of the message on the path that LangGraph's streaming takes. */
function publishFinishReason(chunk: ChatGenerationChunk): void {
  const { finish_reason: reason, model_name: model } = chunk.generationInfo ?? {};
  if (typeof reason !== "string") return;
  chunk.message.response_metadata = {
    ...chunk.message.response_metadata,
    finish_reason: reason,
    ...(typeof model === "string" ? { model_name: model } : {}),
  };
}

function abortError(received: readonly ChatGenerationChunk[]): ModelAbortError {
  const [first, ...rest] = received;
  const partial = rest.reduce((joined, chunk) => joined?.concat(chunk), first);
  return new ModelAbortError("The model call was aborted.", partial?.message as AIMessageChunk | undefined);
}

function hasStreamed(received: readonly ChatGenerationChunk[]): boolean {
  return received.some(
    ({ text, message }) => text !== "" || ((message as AIMessageChunk).tool_call_chunks ?? []).length > 0,
  );
}
