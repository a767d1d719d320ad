/** Runs the cases of a suite, each on a runner of its own, and says how each ended. */
import { randomUUID } from "node:crypto";
import { errorMessage } from "#src/kernel/errors.ts";
import type { CaseContext, EvalCase, Suite } from "./eval-case.ts";
import type { OpenRunner, Runner } from "./runner.ts";

/** How one case ended. */
export interface CaseResult {
  readonly id: string;
  readonly title: string;
  /** `skipped`: the runner cannot do what the case needs. */
  readonly result: "passed" | "failed" | "skipped";
  /** Wall time in milliseconds, opening the runner included. */
  readonly ms: number;
  /** Why it failed or was skipped; `""` when it passed. */
  readonly detail: string;
}

/** How a suite ended. */
export interface SuiteResult {
  readonly name: string;
  readonly title: string;
  readonly cases: readonly CaseResult[];
}

/** Runs all cases, one after another. A case that throws is a failed case, never an exception. */
export async function runSuite(suite: Suite, open: OpenRunner): Promise<SuiteResult> {
  const cases: CaseResult[] = [];
  for (const evalCase of suite.cases) cases.push(await runCase(suite, evalCase, open));
  return { name: suite.name, title: suite.title, cases };
}

/** Runs one case and then what must hold after every case of its suite. */
export async function runCase(suite: Suite, evalCase: EvalCase, open: OpenRunner): Promise<CaseResult> {
  const { id, title } = evalCase;
  const startedMs = performance.now();
  const outcome = await outcomeOf(suite, evalCase, open);
  return { id, title, ms: performance.now() - startedMs, ...outcome };
}

type Outcome = Pick<CaseResult, "result" | "detail">;

async function outcomeOf(suite: Suite, evalCase: EvalCase, open: OpenRunner): Promise<Outcome> {
  let runner: Runner | undefined;
  try {
    runner = await open();
    const { can, name } = runner;
    const missing = (evalCase.needs ?? []).filter((capability) => !can[capability]);
    if (missing.length > 0) return { result: "skipped", detail: `${name} has no ${missing.join(", ")}` };
    const context = contextOf(runner, evalCase.id);
    await evalCase.run(context);
    await suite.invariants?.(context);
    return { result: "passed", detail: "" };
  } catch (error) {
    return { result: "failed", detail: errorMessage(error) };
  } finally {
    await runner?.close();
  }
}

/** Keys carry a random part, so that a server which many runs share starts each case from nothing. */
function contextOf(runner: Runner, caseId: string): CaseContext {
  const run = randomUUID().slice(0, 8);
  const used = new Set<string>();
  return {
    runner,
    key(name = "main") {
      const key = `eval:${caseId}:${run}:${name}`;
      used.add(key);
      return key;
    },
    keys: () => [...used],
  };
}
