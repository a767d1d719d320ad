/** The rollover decision: hard, then temporal (idleness, the end of a local day), then semantic. Pure; evidence of a change of topic is handed in. */
import { fromInstant, toInstant, nextBoundaryAfter } from "#src/kernel/clock.ts";
import type { RolloverPolicy } from "./rollover-policy.ts";
import type { ControlModel, RotateVerdict, SemanticFinding, StayVerdict, Verdict } from "./verdict.ts";

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
  const { threshold, confirmations } = question.policy.semantic;
  const { turns } = question;
  const { decidedBy } = found;
  const staying = (semantic: SemanticFinding) => ({ ...stay, semantic: { ...semantic, decidedBy } });
  const strength = strengthOf(found.evidence, threshold);
  if (strength.kind === "unknown") return staying({ result: "unknown", ...strength.finding });
  const { confidence } = strength;
  if (strength.kind === "same") return staying({ result: "same", confidence });
  const confirmed = found.confirmed + 1;
  if (confirmed < confirmations) return staying({ result: "unconfirmed", confidence, confirmed });
  return { action: "rotate", trigger: "semantic", confidence, threshold, turns, confirmations, decidedBy };
}

/** Whether a session that a change of topic opened is still young enough to be undone by itself. */
export function mayReverse(question: RolloverQuestion, openedBy: RotateVerdict | undefined): boolean {
  const { semantic, reversal } = question.policy;
  const isYoung = question.turns >= 1 && question.turns <= reversal.turns;
  return semantic.enabled && isYoung && openedBy?.trigger === "semantic";
}

/** The verdict on a rollover that may be undone: what is said since belongs to the old topic, at the threshold, or not. */
export function decideReversal(stay: StayVerdict, question: RolloverQuestion, found: TopicFinding): Verdict {
  const { threshold } = question.policy.semantic;
  const { decidedBy } = found;
  const staying = (semantic: SemanticFinding) => ({ ...stay, semantic: { ...semantic, decidedBy } });
  const strength = strengthOf(found.evidence, threshold);
  if (strength.kind === "unknown") return staying({ result: "unknown", ...strength.finding });
  const { confidence } = strength;
  if (strength.kind === "shift" || confidence < threshold)
    return staying({ result: "notReversed", confidence });
  return { action: "rotate", trigger: "reversal", confidence, threshold, turns: question.turns, decidedBy };
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

/** The persisted clocks of a session: ISO instants of its first and latest committed user turn. */
export interface SessionClocks {
  readonly firstActivityAt: string | null;
  readonly lastActivityAt: string | null;
}

/** When a session ends by time, and by which rule. Milliseconds since the epoch. */
export type TemporalDue =
  | { readonly trigger: "idle"; readonly dueMs: number }
  | { readonly trigger: "dayBoundary"; readonly dueMs: number; readonly boundaryMs: number };

/**
 * The earliest moment at which time ends the session; `undefined` when it is empty or no temporal rule is on.
 * A clock that stands before a stored time is taken as that time, so a wrong future stamp counts as "just now".
 */
export function temporalDue(
  clocks: SessionClocks,
  policy: RolloverPolicy,
  nowMs: number,
): TemporalDue | undefined {
  const { first, last } = repairedClocks(clocks, nowMs);
  if (first === undefined || last === undefined) return undefined;
  const due: TemporalDue[] = [];
  if (policy.idle.enabled) due.push({ trigger: "idle", dueMs: last + policy.idle.limit });
  if (policy.dayBoundary.enabled) {
    const boundaryMs = nextBoundaryAfter(first, { at: policy.dayBoundary.at, timeZone: policy.timeZone });
    due.push({
      trigger: "dayBoundary",
      boundaryMs,
      dueMs: Math.max(boundaryMs, last + policy.dayBoundary.minIdle),
    });
  }
  return due.toSorted((a, b) => a.dueMs - b.dueMs)[0];
}

/** Rotates when the earliest temporal rule is due at `nowMs`; the verdict holds the numbers either way. */
export function decideTemporal(
  clocks: SessionClocks,
  policy: RolloverPolicy,
  nowMs: number,
): RotateVerdict | StayVerdict {
  const { last, behind } = repairedClocks(clocks, nowMs);
  if (last === undefined) return { action: "stay", reason: "empty", idleMs: 0 };
  const idleMs = nowMs - last;
  const due = temporalDue(clocks, policy, nowMs);
  if (due === undefined) return { action: "stay", reason: "off", idleMs };
  const dueAt = toInstant(due.dueMs);
  const { idle, dayBoundary, timeZone } = policy;
  if (nowMs < due.dueMs || behind) {
    const reason = behind ? "clockBehind" : "withinWindow";
    return { action: "stay", reason, idleMs, ...(idle.enabled && { limitMs: idle.limit }), dueAt };
  }
  if (due.trigger === "idle")
    return { action: "rotate", trigger: "idle", idleMs, limitMs: idle.limit, dueAt };
  const { at, minIdle: minIdleMs } = dayBoundary;
  const boundaryAt = toInstant(due.boundaryMs);
  return { action: "rotate", trigger: "dayBoundary", boundaryAt, at, timeZone, idleMs, minIdleMs, dueAt };
}

interface RepairedClocks {
  readonly first: number | undefined;
  readonly last: number | undefined;
  /** The wall clock stands before the stored time of the latest turn. */
  readonly behind: boolean;
}

function repairedClocks(clocks: SessionClocks, nowMs: number): RepairedClocks {
  if (clocks.lastActivityAt === null) return { first: undefined, last: undefined, behind: false };
  const stored = fromInstant(clocks.lastActivityAt);
  const last = Math.min(stored, nowMs);
  const first = Math.min(fromInstant(clocks.firstActivityAt ?? clocks.lastActivityAt), last);
  return { first, last, behind: stored > nowMs };
}
