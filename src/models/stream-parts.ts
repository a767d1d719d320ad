/** Reads what a LangChain runnable streams without the streams around it. */

/** A runnable: a chat model, one with tools, a compiled graph. */
interface Streaming<Input, Options, Part> {
  _streamIterator(input: Input, options?: Options): AsyncGenerator<Part>;
}

/**
 * The parts that a runnable streams, as they come. `stream` gives the same, but passes each through a web stream and a
 * context of its own, which takes longer than a whole step of a graph. What it does besides is left to the caller: once
 * `options` has a signal that is aborted, a runnable that does not listen goes on.
 */
export function streamParts<Input, Options, Part>(
  runnable: Streaming<Input, Options, Part>,
  input: Input,
  options: Options,
): AsyncGenerator<Part> {
  return runnable._streamIterator(input, options);
}
