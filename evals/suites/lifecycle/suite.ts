/** The lifecycle of sessions: the validation cases of the Mozi document, and what the design adds to them. */
import { expectWellLinked } from "../../graders/sessions.ts";
import { expectThat } from "../../graders/expect.ts";
import type { CaseContext, Suite } from "../../harness/eval-case.ts";
import { fieldReportCases } from "./field-reports.ts";
import { anyStateCases } from "./any-state.ts";
import { deliveryCases } from "./delivery.ts";
import { historyCases } from "./history.ts";
import { newCases } from "./new.ts";
import { legacyCases } from "./legacy.ts";
import { restartCases } from "./restart.ts";
import { resumeCases } from "./resume.ts";
import { semanticCases } from "./semantic.ts";
import { temporalCases } from "./temporal.ts";

/** All lifecycle cases. */
export const lifecycleSuite: Suite = {
  name: "lifecycle",
  title: "Session lifecycle",
  cases: [
    ...newCases,
    ...anyStateCases,
    ...temporalCases,
    ...semanticCases,
    ...legacyCases,
    ...historyCases,
    ...deliveryCases,
    ...resumeCases,
    ...restartCases,
    ...fieldReportCases,
  ],
  invariants: lifecycleInvariants,
};

/** Checks every key that the case used. */
async function lifecycleInvariants({ runner, keys }: CaseContext): Promise<void> {
  for (const key of keys()) {
    expectWellLinked(await runner.sessions(key));
    const { ok, problems } = await runner.verify(key);
    expectThat(ok, `verification fails: ${problems.join("; ")}`);
  }
}
