/** What the checkpointers of both databases do around LangGraph's own. */
import type { RunnableConfig } from "@langchain/core/runnables";

/** The config with a namespace: an absent one is the root, `""`, everywhere. */
export function withNamespace(config: RunnableConfig): RunnableConfig {
  const { checkpoint_ns: namespace } = config.configurable ?? {};
  if (typeof namespace === "string") return config;
  return { ...config, configurable: { ...config.configurable, checkpoint_ns: "" } };
}
