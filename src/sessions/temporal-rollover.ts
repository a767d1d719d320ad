/** Decides whether time alone ends a session: by idleness, or by the end of a local day. */
import { fromInstant, toInstant } from "#src/kernel/clock.ts";
import { nextBoundaryAfter } from "./day-boundary.ts";
import type { RolloverPolicy } from "./rollover-policy.ts";
import type { RotateVerdict, StayVerdict } from "./verdict.ts";

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
  if (nowMs < due.dueMs || behind) {
    const reason = behind ? "clockBehind" : "withinWindow";
    return {
      action: "stay",
      reason,
      idleMs,
      ...(policy.idle.enabled ? { limitMs: policy.idle.limit } : {}),
      dueAt,
    };
  }
  if (due.trigger === "idle") {
    return { action: "rotate", trigger: "idle", idleMs, limitMs: policy.idle.limit, dueAt };
  }
  return {
    action: "rotate",
    trigger: "dayBoundary",
    boundaryAt: toInstant(due.boundaryMs),
    at: policy.dayBoundary.at,
    timeZone: policy.timeZone,
    idleMs,
    minIdleMs: policy.dayBoundary.minIdle,
    dueAt,
  };
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
