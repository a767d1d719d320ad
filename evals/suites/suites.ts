/** All evaluation suites. */
import type { Suite } from "#evals/harness/eval-case.ts";
import { lifecycleSuite } from "./lifecycle/suite.ts";
import { memorySuite } from "./memory/suite.ts";

/** In the order in which they run. */
export const SUITES: readonly Suite[] = [lifecycleSuite, memorySuite];
