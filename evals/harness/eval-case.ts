/** What a case and a suite are. */
import type { Capability, Runner } from "./runner.ts";

/** What a case works with. */
export interface CaseContext {
  readonly runner: Runner;
  /** A session key that no other case uses; the same for the same `name` within one case. */
  key(name?: string): string;
  /** The keys that were asked for so far. */
  keys(): readonly string[];
}

/** One behaviour, shown by whole turns. It passes unless it throws. */
export interface EvalCase {
  /** Stable: results are compared by it. */
  readonly id: string;
  /** The behaviour in the present tense. */
  readonly title: string;
  readonly needs?: readonly Capability[];
  run(context: CaseContext): Promise<void>;
}

/** Cases of one capability. */
export interface Suite {
  /** Word by which the suite is chosen. */
  readonly name: string;
  readonly title: string;
  readonly cases: readonly EvalCase[];
  /** What must hold after every case, whatever it did. */
  invariants?(context: CaseContext): Promise<void>;
}
