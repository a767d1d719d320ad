/** Reads what a LangChain runnable streams without the web stream around it. */
import type { RunnableConfig } from "@langchain/core/runnables";
import { AsyncGeneratorWithSetup } from "@langchain/core/utils/stream";

/** A runnable: a chat model, one with tools, a compiled graph. */
interface Streaming<Input, Config, Part> {
  transform(input: AsyncGenerator<Input>, config: Config): AsyncGenerator<Part>;
}

/**
 * The parts that a runnable streams, as they come, as a chain reads those of the runnables in it. It runs in a context of its
 * own, and reading ends with the signal of `config`, whether it listens or not. `stream` does the same, and then passes each part
 * through a web stream, which takes as long as a whole step of a graph.
 *
 * @throws the reason of the signal when that is aborted
 */
export function streamParts<Input, Config extends Partial<RunnableConfig>, Part>(
  runnable: Streaming<Input, Config, Part>,
  input: Input,
  config: Config,
): AsyncIterable<Part> {
  const generator = runnable.transform(only(input), config);
  const parts = new AsyncGeneratorWithSetup({ generator, config });
  // Whoever reads hears of it.
  parts.setup.catch(() => undefined);
  return parts as AsyncIterable<Part>;
}

async function* only<T>(value: T): AsyncGenerator<T> {
  yield value;
}
