/** What a benchmark of turns found, as data: what the tables and the targets read, and what `--json` prints. */
import type { FreshTimes } from "./fresh-times.ts";
import type { CasePlan } from "./bench-plan.ts";

/** Bytes of one kind. */
export interface KindBytes {
  readonly kind: string;
  readonly totalBytes: number;
  /** Growth with each turn just before the end. */
  readonly bytesPerTurn: number;
}

/** What a conversation takes on disk, write-ahead logs folded in. */
export interface DiskCosts {
  /** All files of a folder with this conversation alone. */
  readonly totalBytes: number;
  /** Growth with each of the turns between the two marks. */
  readonly bytesPerTurn: number;
  readonly fromTurn: number;
  readonly toTurn: number;
  /** The total is not measured: it follows from what single turns added. */
  readonly isComputed: boolean;
  readonly kinds?: readonly KindBytes[];
}

/** One subject at one length. */
export interface CaseResult extends Omit<CasePlan, "turnsPerRound"> {
  readonly samples: number;
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** Processor time of a turn, all threads, on average: less disturbed by other programs than the clock is. */
  readonly processorMs: number;
  /** Messages of the conversation that the model was given. */
  readonly given: number;
  readonly disk?: DiskCosts;
  /** Live heap that driving the conversation left behind. */
  readonly heapGrowthBytes?: number;
  /** A fresh process that resumes it. */
  readonly fresh?: FreshTimes;
  /** A fresh process that imports the same and ends. */
  readonly bare?: FreshTimes;
}

/** A whole benchmark of turns. */
export interface BenchResult {
  readonly node: string;
  readonly processor: string;
  readonly cores: number;
  /** Cores that other programs kept busy while turns were measured, on average; the worse of the parts. */
  readonly foreignCores: number;
  readonly cases: readonly CaseResult[];
}
