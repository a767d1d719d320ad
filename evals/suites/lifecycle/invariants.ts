/** What holds after every lifecycle case: the chain is whole and what is stored proves itself. */
import { expectWellLinked } from "#evals/graders/sessions.ts";
import { expectThat } from "#evals/graders/expect.ts";
import type { CaseContext } from "#evals/harness/eval-case.ts";

/** Checks every key that the case used. */
export async function lifecycleInvariants({ runner, keys }: CaseContext): Promise<void> {
  for (const key of keys()) {
    expectWellLinked(await runner.sessions(key));
    const { ok, problems } = await runner.verify(key);
    expectThat(ok, `verification fails: ${problems.join("; ")}`);
  }
}
