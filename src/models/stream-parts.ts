/** Reads what a LangChain runnable streams without the web stream around it. */
import type { RunnableConfig } from "@langchain/core/runnables";
import { AsyncGeneratorWithSetup } from "@langchain/core/utils/stream";

/** A runnable: a chat model, one with tools, a compiled graph. */
interface Streaming<Input, Config, Part> {
  transform(input: AsyncGenerator<Input>, config: Config): AsyncGenerator<Part>;
}

/**
 * The parts that a runnable streams, as they come, read as a chain reads those of the runnables in it. It runs in a context
 * of its own, as with `stream`, which then passes each part through a web stream: that takes as long as a whole step of a
 * graph. Unlike there, reading does not end before the runnable does: one that hears the signal of `config` ends what it has
 * begun first, and is not left behind writing.
 *
 * @throws what the runnable throws, also where it hears the signal
 */
export async function* streamParts<Input, Config extends Partial<RunnableConfig>, Part>(
  runnable: Streaming<Input, Config, Part>,
  input: Input,
  config: Config,
): AsyncGenerator<Part> {
  const { signal: _heardByTheRunnable, ...context } = config;
  const parts: AsyncGeneratorWithSetup<unknown, Part> = new AsyncGeneratorWithSetup({
    generator: runnable.transform(only(input), config),
    config: context,
  });
  await parts.setup;
  for await (const part of parts) yield part;
}

async function* only<T>(value: T): AsyncGenerator<T> {
  yield value;
}
