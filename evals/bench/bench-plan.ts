/** Which subjects a benchmark of turns drives, how far, and how many of their turns it measures. */
import type { SubjectName } from "./subject.ts";

/** One subject at one length of the conversation. */
export interface CasePlan {
  readonly subject: SubjectName;
  readonly usesTools: boolean;
  /** Turns that a conversation has when it is measured; 0 for a subject that keeps nothing. */
  readonly turns: number;
  /** The conversation is written as one state instead of being driven. */
  readonly isPreloaded: boolean;
  /** Measured turns in each round. */
  readonly turnsPerRound: number;
}

/** A whole benchmark of turns. */
export interface BenchPlan {
  readonly cases: readonly CasePlan[];
  readonly rounds: number;
  /** Fresh processes for each length, of which the middle one counts. */
  readonly freshRuns: number;
  /** The shortest length that fresh processes resume. */
  readonly freshFrom: number;
}

/** What a person asks for. */
export type BenchSize = "quick" | "usual" | "full";

const LENGTHS: Readonly<Record<BenchSize, readonly number[]>> = {
  quick: [10, 100],
  usual: [10, 100, 1_000],
  full: [10, 100, 1_000, 5_000],
};

/** A plain agent is driven no further than this: 1,000 turns take minutes and 1.6 GB, 5,000 hours and 41 GB. */
const LONGEST_DRIVEN_PLAIN = 100;

/** Length at which Lily is measured a second time, with somebody who watches. */
const WATCHED_LENGTH = 100;

const DRIVEN = { isPreloaded: false, turnsPerRound: 5 };

/** The benchmark of a size. */
export function benchPlan(size: BenchSize): BenchPlan {
  const isQuick = size === "quick";
  return {
    cases: (isQuick ? [false] : [false, true]).flatMap((usesTools) => casesOf(LENGTHS[size], usesTools)),
    rounds: isQuick ? 5 : 20,
    freshRuns: isQuick ? 1 : 5,
    freshFrom: isQuick ? 100 : 0,
  };
}

function casesOf(lengths: readonly number[], usesTools: boolean): CasePlan[] {
  const isWatched = lengths.length > LENGTHS.quick.length;
  return [
    ...lengths.map((turns) => ({ ...DRIVEN, subject: "lily" as const, usesTools, turns })),
    ...(isWatched ? [{ ...DRIVEN, subject: "lily-watched" as const, usesTools, turns: WATCHED_LENGTH }] : []),
    { ...DRIVEN, subject: "floor", usesTools, turns: 0 },
    // The longest first: what it leaves to the collector's threads is done before Lily's next turn is timed.
    ...lengths.toReversed().map((turns) => ({
      subject: "plain" as const,
      usesTools,
      turns,
      isPreloaded: turns > LONGEST_DRIVEN_PLAIN,
      turnsPerRound: 1,
    })),
  ];
}

/** How many conversations are needed, and how many turns of each are measured, so that none outgrows its length. */
export function conversationsFor(turns: number, samples: number): { count: number; turnsEach: number } {
  // A fifth more than the length still counts as that length; what keeps nothing has no length.
  const turnsEach = turns === 0 ? samples : Math.min(samples, Math.max(4, Math.floor(turns / 5)));
  return { count: Math.ceil(samples / turnsEach), turnsEach };
}
