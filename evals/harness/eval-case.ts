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
  /** A defect of Lily that makes the case fail, in a few words. Once it is mended the case fails until this is gone. */
  readonly knownDefect?: string;
  run(context: CaseContext): Promise<void>;
}

/** A case that is known and not written yet; it counts neither as passed nor as failed. */
export interface PlannedCase {
  readonly id: string;
  readonly title: string;
  /** What it waits for. */
  readonly waitsFor: string;
}

/** Cases of one capability. */
export interface Suite {
  /** Word by which the suite is chosen. */
  readonly name: string;
  readonly title: string;
  readonly cases: readonly EvalCase[];
  readonly planned?: readonly PlannedCase[];
  /** What must hold after every case, whatever it did. */
  invariants?(context: CaseContext): Promise<void>;
}
