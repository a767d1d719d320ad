/** What the checkpointers of both databases do around LangGraph's own. */
import type { RunnableConfig } from "@langchain/core/runnables";

/** The config with a namespace: an absent one is the root, `""`, everywhere. */
export function withNamespace(config: RunnableConfig): RunnableConfig {
  const { checkpoint_ns: namespace } = config.configurable ?? {};
  if (typeof namespace === "string") return config;
  return { ...config, configurable: { ...config.configurable, checkpoint_ns: "" } };
}

/**
 * The items of `open()`, whose first step is carried out by `carryOut`, which may try it again. Upstream's savers read
 * every row before they give the first one, so only that step asks the database.
 */
export async function* startedBy<Item>(
  open: () => AsyncGenerator<Item>,
  carryOut: <T>(work: () => Promise<T>) => Promise<T>,
): AsyncGenerator<Item> {
  const { first, rest } = await carryOut(async () => {
    const rest = open();
    return { first: await rest.next(), rest };
  });
  if (first.done === true) return;
  yield first.value;
  yield* rest;
}
