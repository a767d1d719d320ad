/** The rollover decision: hard, then temporal, then semantic. Pure; evidence of a change of topic is handed in. */
import { fromInstant } from "#src/kernel/clock.ts";
import type { RolloverPolicy } from "./rollover-policy.ts";
import { decideTemporal, type SessionClocks } from "./temporal-rollover.ts";
import type { TopicEvidence } from "./topic-evidence.ts";
import type { ControlModel, RotateVerdict, SemanticFinding, StayVerdict, Verdict } from "./verdict.ts";

/** What a decision is made from. */
export interface RolloverQuestion {
  readonly nowMs: number;
  readonly clocks: SessionClocks;
  readonly turns: number;
  readonly policy: RolloverPolicy;
  /** The command that ends the session, e.g. `/new`. */
  readonly hardCommand?: string;
  /** ISO instant of the key's latest rollover by change of topic, or of its reversal. */
  readonly lastSemanticAt?: string;
}

/** What a classifier said, and who it was. */
export interface TopicFinding {
  readonly evidence: TopicEvidence;
  readonly decidedBy: ControlModel;
  /** Messages in a row before this one that changed the topic. */
  readonly confirmed: number;
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

/** The verdict after the classifier was asked; anything but a confirmed shift at the threshold means stay. */
export function decideTopic(stay: StayVerdict, question: RolloverQuestion, found: TopicFinding): Verdict {
  const { decidedBy } = found;
  const { semantic } = question.policy;
  const strength = strengthOf(found.evidence, semantic.threshold);
  if (strength.kind === "unknown")
    return staying(stay, { result: "unknown", ...strength.finding, decidedBy });
  const { confidence } = strength;
  if (strength.kind === "same") return staying(stay, { result: "same", confidence, decidedBy });
  const confirmed = found.confirmed + 1;
  if (confirmed < semantic.confirmations)
    return staying(stay, { result: "unconfirmed", confidence, confirmed, decidedBy });
  return {
    action: "rotate",
    trigger: "semantic",
    confidence,
    threshold: semantic.threshold,
    turns: question.turns,
    confirmations: semantic.confirmations,
    decidedBy,
  };
}

/** Whether a session that a change of topic opened is still young enough to be undone by itself. */
export function mayReverse(question: RolloverQuestion, openedBy: RotateVerdict | undefined): boolean {
  const { semantic, reversal } = question.policy;
  const isYoung = question.turns >= 1 && question.turns <= reversal.turns;
  return semantic.enabled && isYoung && openedBy?.trigger === "semantic";
}

/** The verdict on a rollover that may be undone: what is said since belongs to the old topic, at the threshold, or not. */
export function decideReversal(stay: StayVerdict, question: RolloverQuestion, found: TopicFinding): Verdict {
  const { decidedBy } = found;
  const { threshold } = question.policy.semantic;
  const strength = strengthOf(found.evidence, threshold);
  if (strength.kind === "unknown")
    return staying(stay, { result: "unknown", ...strength.finding, decidedBy });
  const { confidence } = strength;
  if (strength.kind === "shift" || confidence < threshold) {
    return staying(stay, { result: "notReversed", confidence, decidedBy });
  }
  return { action: "rotate", trigger: "reversal", confidence, threshold, turns: question.turns, decidedBy };
}

function staying(stay: StayVerdict, semantic: SemanticFinding): StayVerdict {
  return { ...stay, semantic };
}

type Strength =
  | { readonly kind: "unknown"; readonly finding: { readonly why: string; readonly confidence?: number } }
  | { readonly kind: "same" | "shift"; readonly confidence: number };

/** Evidence by its strength: a shift below the threshold is no evidence. */
function strengthOf(evidence: TopicEvidence, threshold: number): Strength {
  if (evidence.kind === "unknown") return { kind: "unknown", finding: { why: evidence.why } };
  const { confidence, kind } = evidence;
  if (!(confidence >= 0 && confidence <= 1))
    return { kind: "unknown", finding: { why: "the confidence is not a number from 0 to 1" } };
  if (kind === "shift" && confidence < threshold) {
    const why = `a shift at ${confidence.toFixed(2)} is below the threshold ${threshold.toFixed(2)}`;
    return { kind: "unknown", finding: { why, confidence } };
  }
  return { kind, confidence };
}
