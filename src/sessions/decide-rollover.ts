/** The rollover decision: hard, then temporal, then semantic. Pure; evidence of a change of topic is handed in. */
import { fromInstant } from "#src/kernel/clock.ts";
import type { RolloverPolicy } from "./rollover-policy.ts";
import { decideTemporal, type SessionClocks } from "./temporal-rollover.ts";
import type { RotateVerdict, SemanticFinding, StayVerdict, Verdict } from "./verdict.ts";

/** What a topic classifier says of a new message; missing or weak evidence is `unknown`. */
export type TopicEvidence =
  | { readonly kind: "unknown"; readonly why: string }
  | { readonly kind: "same" | "shift"; readonly confidence: number; readonly decidedBy: string };

/** What a decision is made from. */
export interface RolloverQuestion {
  readonly nowMs: number;
  readonly clocks: SessionClocks;
  readonly turns: number;
  readonly policy: RolloverPolicy;
  /** The command that ends the session, e.g. `/new`. */
  readonly hardCommand?: string;
  /** ISO instant of the key's latest rollover by change of topic. */
  readonly lastSemanticAt?: string;
}

/** Hard and temporal rules: `rotate`, or `stay` with the numbers. */
export function decideWithoutTopic(question: RolloverQuestion): RotateVerdict | StayVerdict {
  if (question.hardCommand !== undefined) {
    return { action: "rotate", trigger: "command", command: question.hardCommand };
  }
  return decideTemporal(question.clocks, question.policy, question.nowMs);
}

/** Why the classifier is not even asked, if it is not. */
export function topicGate(question: RolloverQuestion): SemanticFinding | undefined {
  const { semantic } = question.policy;
  if (!semantic.enabled) return { result: "off" };
  if (question.turns < semantic.minTurns)
    return { result: "tooShort", why: `${question.turns} of ${semantic.minTurns} turns` };
  const sinceMs =
    question.lastSemanticAt === undefined ? Infinity : question.nowMs - fromInstant(question.lastSemanticAt);
  return sinceMs < semantic.cooldown ? { result: "cooldown" } : undefined;
}

/** The verdict after the classifier was asked; anything but a shift at the threshold means stay. */
export function decideTopic(stay: StayVerdict, question: RolloverQuestion, evidence: TopicEvidence): Verdict {
  const { semantic } = question.policy;
  if (evidence.kind === "unknown") return { ...stay, semantic: { result: "unknown", why: evidence.why } };
  const { confidence } = evidence;
  if (!(confidence >= 0 && confidence <= 1)) {
    return { ...stay, semantic: { result: "unknown", why: "the confidence is not a number from 0 to 1" } };
  }
  if (evidence.kind === "same") return { ...stay, semantic: { result: "same", confidence } };
  if (confidence < semantic.threshold) return { ...stay, semantic: { result: "belowThreshold", confidence } };
  if (semantic.confirmations > 1) return { ...stay, semantic: { result: "unconfirmed", confidence } };
  return {
    action: "rotate",
    trigger: "semantic",
    confidence,
    threshold: semantic.threshold,
    turns: question.turns,
    confirmations: semantic.confirmations,
    decidedBy: evidence.decidedBy,
  };
}
