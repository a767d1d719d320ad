/** Which classifier stands behind the name of a control model. */
import type { ChatModels } from "#src/models/chat-model.ts";
import type { TopicClassifiers } from "./session-deps.ts";

/** Makes the classifiers. */
export function createTopicClassifiers(_models: ChatModels): TopicClassifiers {
  return () => ({ classify: async () => ({ kind: "unknown", why: "no topic classifier is configured" }) });
}
