/** Long-term memory: what it can do (section 11 of the memory specification), and what its commands have always done. */
import type { EvalCase, Suite } from "#evals/harness/eval-case.ts";
import { capabilityCases } from "./capability.ts";
import { regressionCases } from "./regression.ts";

/** Facts belong to an owner, not to a key: on a server that cases share they would meet each other's. */
const onItsOwn = (one: EvalCase): EvalCase => ({ ...one, needs: [...(one.needs ?? []), "owners"] });

/** All memory cases. */
export const memorySuite: Suite = {
  name: "memory",
  title: "Long-term memory",
  cases: [...capabilityCases, ...regressionCases].map(onItsOwn),
};
