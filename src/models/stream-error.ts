/** The error of an answer that began to stream and did not end well. */

/** Why a stream counts as failed; `interrupted` means that the provider threw, and `cause` is what it threw. */
export type StreamFailure = "cut_stream" | "malformed" | "timeout" | "interrupted";

/** A model call that failed while its answer was read. */
export class ModelStreamError extends Error {
  readonly failure: StreamFailure;
  /** Whether text or tool calls had reached the caller, so that a second attempt would show them twice. */
  readonly streamed: boolean;

  constructor(failure: StreamFailure, message: string, options: { streamed: boolean; cause?: unknown }) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = "ModelStreamError";
    this.failure = failure;
    this.streamed = options.streamed;
  }
}

/** Whether `error` is a {@link ModelStreamError}, also one made by another copy of this module. */
export function isModelStreamError(error: unknown): error is ModelStreamError {
  return error instanceof Error && error.name === "ModelStreamError" && "failure" in error;
}
