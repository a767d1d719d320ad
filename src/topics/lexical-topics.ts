/** The built-in topic classifier: words and turns of phrase, past-only, the same each time, with no model. */
import type { TopicClassifier, TopicEvidence, TopicQuestion } from "#src/sessions/topic-evidence.ts";
import { FEATURE_NAMES, readMessage, type MessageReading, type TopicFeatures } from "./topic-features.ts";
import { TOPIC_WEIGHTS } from "./topic-weights.ts";

/** A message that says in so many words that the subject changes. */
const ANNOUNCED_CONFIDENCE = 0.95;

/** With fewer words that carry a topic, nothing that was said before is a topic to shift from. */
const FEWEST_RECENT_WORDS = 3;

/** Where the operating point lies on the scale of confidence: the default of `rollover.semantic.threshold`. */
const OPERATING_CONFIDENCE = 0.8;

/** Makes the classifier. */
export function createLexicalTopics(): TopicClassifier {
  return { classify: async (question) => classifyTopic(question) };
}

/** The evidence of one message beside those before it. */
export function classifyTopic({ message, recent }: TopicQuestion): TopicEvidence {
  const reading = readMessage(recent, message);
  const { wording } = reading;
  if (recent.length === 0) return { kind: "unknown", why: "nothing was said before" };
  if (wording.announced && !wording.returning) return { kind: "shift", confidence: ANNOUNCED_CONFIDENCE };
  if (reading.words === 0)
    return { kind: "unknown", why: "the message has no word that could carry a topic" };
  if (reading.recentWords < FEWEST_RECENT_WORDS)
    return { kind: "unknown", why: "too little was said before to be a topic" };
  return evidenceOf(shiftProbability(reading));
}

/** How likely the message begins a topic, by the trained weights: from 0 to 1. */
function shiftProbability({ features }: Pick<MessageReading, "features">): number {
  const logOdds = FEATURE_NAMES.reduce((sum, name) => sum + weighted(features, name), TOPIC_WEIGHTS.bias);
  return 1 / (1 + Math.exp(-logOdds));
}

function weighted(features: TopicFeatures, name: (typeof FEATURE_NAMES)[number]): number {
  return features[name] * TOPIC_WEIGHTS.weights[name];
}

/**
 * Evidence on the scale of confidence, on which the operating point that was chosen for precision lies at 0.8. It is no
 * probability: labelled chat changes its topic far more often than a person who talks with an assistant.
 */
function evidenceOf(probability: number): TopicEvidence {
  const point = TOPIC_WEIGHTS.operatingPoint;
  const scale =
    probability < point
      ? (probability / point) * OPERATING_CONFIDENCE
      : OPERATING_CONFIDENCE + ((probability - point) / (1 - point)) * (1 - OPERATING_CONFIDENCE);
  const confidence = Math.round(1_000 * scale) / 1_000;
  return confidence >= 0.5
    ? { kind: "shift", confidence }
    : { kind: "same", confidence: Math.round(1_000 * (1 - confidence)) / 1_000 };
}
