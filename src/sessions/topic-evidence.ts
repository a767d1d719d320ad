/** What a topic classifier is asked and says: the port of the semantic rule. */

/** Whether a message is about something else than what was said so far. */
export interface TopicQuestion {
  /** What the user said before, oldest first. */
  readonly recent: readonly string[];
  /** What the user says now. */
  readonly message: string;
}

/** A classifier's word; missing or weak evidence is `unknown`, which means stay. */
export type TopicEvidence = (
  | { readonly kind: "unknown"; readonly why: string }
  | {
      readonly kind: "same" | "shift";
      /** From 0 to 1. */
      readonly confidence: number;
    }
) & {
  /** Of question and answer, where a model was asked whose server counts them. */
  readonly tokens?: number;
};

/** Says whether a message changes the topic. Never rejects: what goes wrong is `unknown`. */
export interface TopicClassifier {
  classify(question: TopicQuestion): Promise<TopicEvidence>;
}
