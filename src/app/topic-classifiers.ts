/** Which classifier stands behind the name of a control model. */
import type { ChatModels } from "#src/models/chat-model.ts";
import { BUILT_IN } from "#src/sessions/control-model.ts";
import { createControlModelTopics } from "#src/topics/control-model-topics.ts";
import { createLexicalTopics } from "#src/topics/lexical-topics.ts";
import type { TopicClassifiers } from "./session-deps.ts";

/** Makes the classifiers: the built-in one, and chat models by their references. */
export function createTopicClassifiers(models: ChatModels): TopicClassifiers {
  const builtIn = createLexicalTopics();
  return (controlModel, { deadlineMs }) =>
    controlModel === BUILT_IN
      ? builtIn
      : createControlModelTopics({ models, model: controlModel, deadlineMs });
}
