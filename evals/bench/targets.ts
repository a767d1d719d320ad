/** How far Lily is from what a turn may cost; a reader's verdict, nothing that fails a run. */
import type { BenchResult, CaseResult } from "./bench-result.ts";

/** One limit and what was measured against it. */
export interface Target {
  readonly what: string;
  readonly value: number;
  readonly unit: "ms" | "bytes" | "times";
  readonly bound: "at most" | "at least";
  readonly limit: number;
  readonly isMet: boolean;
}

/** The limits. */
const LIMIT = {
  p50Ms: 5,
  p95Ms: 15,
  /** Times the time at {@link SHORT} turns. */
  growth: 1.25,
  /** Times the agent without persistence. */
  floor: 2.5,
  bytesPerTurn: 2_000,
  resumeMs: 10,
  /** Times smaller than the plain agent, at the longest length. */
  smaller: 500,
};

/** Times faster than the plain agent, by length. */
const FASTER: ReadonlyMap<number, number> = new Map([
  [1_000, 30],
  [5_000, 200],
]);

/** The length at which a conversation counts as full: what comes after must cost the same. */
const SHORT = 100;

/** The length for which the limits of space and of resuming are set. */
const LONGEST = 5_000;

/** All limits for which there are measurements. */
export function targetsOf({ cases }: BenchResult): Target[] {
  return [false, true].flatMap((usesTools) => {
    const ofOne = cases.filter((one) => one.usesTools === usesTools);
    const lily = ofOne.filter(({ subject }) => subject === "lily");
    const suffix = usesTools ? ", a tool call each" : "";
    return lily
      .flatMap((one) => targetsAt(one, ofOne))
      .map((target) => ({ ...target, what: target.what + suffix }));
  });
}

function targetsAt(lily: CaseResult, all: readonly CaseResult[]): Target[] {
  const { turns } = lily;
  const floor = all.find(({ subject }) => subject === "floor");
  const plain = all.find((one) => one.subject === "plain" && one.turns === turns);
  const short = all.find((one) => one.subject === "lily" && one.turns === SHORT);
  const at = (what: string): string => `${what} at ${turns} turns`;
  const faster = FASTER.get(turns);
  return [
    atMost(at("p50"), lily.p50Ms, { unit: "ms", limit: LIMIT.p50Ms }),
    atMost(at("p95"), lily.p95Ms, { unit: "ms", limit: LIMIT.p95Ms }),
    ...(floor === undefined
      ? []
      : [atMost(at("p50 to the agent without persistence"), lily.p50Ms / floor.p50Ms, times(LIMIT.floor))]),
    ...(short === undefined || turns <= SHORT
      ? []
      : [atMost(at(`p50 to that at ${SHORT}`), lily.p50Ms / short.p50Ms, times(LIMIT.growth))]),
    ...(plain === undefined || faster === undefined
      ? []
      : [atLeast(at("faster than the plain agent"), plain.p50Ms / lily.p50Ms, times(faster))]),
    ...(turns === LONGEST ? targetsAtLongest(lily, plain) : []),
  ];
}

function targetsAtLongest({ turns, disk, fresh }: CaseResult, plain: CaseResult | undefined): Target[] {
  const at = (what: string): string => `${what} at ${turns} turns`;
  const plainBytes = plain?.disk?.totalBytes;
  return [
    ...(disk === undefined
      ? []
      : [atMost(at("kept with each turn"), disk.bytesPerTurn, { unit: "bytes", limit: LIMIT.bytesPerTurn })]),
    ...(disk === undefined || plainBytes === undefined
      ? []
      : [atLeast(at("smaller than the plain agent"), plainBytes / disk.totalBytes, times(LIMIT.smaller))]),
    ...(fresh === undefined
      ? []
      : [
          atMost(at("opened and read by a fresh process"), fresh.openMs + fresh.readMs, {
            unit: "ms",
            limit: LIMIT.resumeMs,
          }),
        ]),
  ];
}

type Limit = Pick<Target, "unit" | "limit">;

const times = (limit: number): Limit => ({ unit: "times", limit });

const atMost = (what: string, value: number, limit: Limit): Target => ({
  what,
  value,
  ...limit,
  bound: "at most",
  isMet: value <= limit.limit,
});

const atLeast = (what: string, value: number, limit: Limit): Target => ({
  what,
  value,
  ...limit,
  bound: "at least",
  isMet: value >= limit.limit,
});
