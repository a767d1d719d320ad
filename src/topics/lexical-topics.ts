/** The built-in topic classifier: words and turns of phrase, past-only, the same each time, with no model. */
import type { TopicClassifier, TopicEvidence, TopicQuestion } from "#src/sessions/decide-rollover.ts";
import { FEATURE_NAMES, readMessage, type MessageReading, type TopicFeatures } from "./topic-features.ts";

/**
 * Log odds of a change of topic, and the probability from which on a message is taken for one: logistic regression on the
 * train split of TIAGE, the point chosen for precision on its dev split. The numbers are put here by
 * `npm run eval:topics -- --train`.
 */
export const TOPIC_WEIGHTS: {
  readonly bias: number;
  readonly operatingPoint: number;
  readonly weights: TopicFeatures;
} = {
  bias: -0.906,
  operatingPoint: 0.36,
  weights: {
    apart: -0.009,
    sharedLast: -1.736,
    sharedThree: -0.701,
    sharedAll: 0.427,
    length: 0.648,
    requesting: 0.523,
    freshRequest: 0.027,
    freshQuestion: 1.085,
    pointing: -0.08,
    age: -0.426,
  },
};

/** A message that says in so many words that the subject changes. */
const ANNOUNCED_CONFIDENCE = 0.95;

/** A message that says that it goes back to what was said, and names some of it. */
const RETURNING_CONFIDENCE = 0.9;

/** An aside ("by the way, …") that names nothing of what was said, from this many words of its own on. */
const ASIDE_CONFIDENCE = 0.85;
const ASIDE_WORDS = 3;

/**
 * Silence about the old topic proves little when a message has few words: in chats with an assistant, "Do we need a
 * car?" belongs to the trip. With fewer own words than this, or a word that was said before, no message reaches 0.8.
 */
const TELLING_WORDS = 4;
const FEW_WORDS_CEILING = 0.75;
const SHARED_WORDS_CEILING = 0.6;

/** With fewer words that carry a topic, nothing that was said before is a topic to shift from. */
const FEWEST_RECENT_WORDS = 3;

/** Where the operating point lies on the scale of confidence: the default of `rollover.semantic.threshold`. */
const OPERATING_CONFIDENCE = 0.8;

export function createLexicalTopics(): TopicClassifier {
  return { classify: async (question) => classifyTopic(question) };
}

/** The evidence of one message beside those before it. */
export function classifyTopic({ message, recent }: TopicQuestion): TopicEvidence {
  const reading = readMessage(recent, message);
  const { wording } = reading;
  if (recent.length === 0) return { kind: "unknown", why: "nothing was said before" };
  if (wording.announced && !wording.returning) return { kind: "shift", confidence: ANNOUNCED_CONFIDENCE };
  if (wording.returning && reading.shared > 0) return { kind: "same", confidence: RETURNING_CONFIDENCE };
  if (reading.words === 0)
    return { kind: "unknown", why: "the message has no word that could carry a topic" };
  if (reading.recentWords < FEWEST_RECENT_WORDS)
    return { kind: "unknown", why: "too little was said before to be a topic" };
  if (wording.aside && reading.features.apart === 1 && reading.words >= ASIDE_WORDS)
    return { kind: "shift", confidence: ASIDE_CONFIDENCE };
  return evidenceOf(shiftProbability(reading), ceilingOf(reading));
}

/** How likely the message begins a topic, by the trained weights: from 0 to 1. */
function shiftProbability({ features }: Pick<MessageReading, "features">): number {
  const { bias, weights } = TOPIC_WEIGHTS;
  return 1 / (1 + Math.exp(-FEATURE_NAMES.reduce((sum, name) => sum + features[name] * weights[name], bias)));
}

/** The most that a message's words can weigh as a change of topic. */
function ceilingOf({ features, words, wording }: MessageReading): number {
  if (features.apart === 0) return SHARED_WORDS_CEILING;
  return words < TELLING_WORDS || wording.goingOn ? FEW_WORDS_CEILING : 1;
}

/**
 * Evidence on the scale of confidence, on which the operating point that was chosen for precision lies at 0.8. It is no
 * probability: labelled chat changes its topic far more often than a person who talks with an assistant.
 */
function evidenceOf(probability: number, ceiling: number): TopicEvidence {
  const point = TOPIC_WEIGHTS.operatingPoint;
  const scale =
    probability < point
      ? (probability / point) * OPERATING_CONFIDENCE
      : OPERATING_CONFIDENCE + ((probability - point) / (1 - point)) * (1 - OPERATING_CONFIDENCE);
  const confidence = Math.round(1_000 * Math.min(scale, ceiling)) / 1_000;
  return confidence >= 0.5
    ? { kind: "shift", confidence }
    : { kind: "same", confidence: Math.round(1_000 * (1 - confidence)) / 1_000 };
}
