/** The evals themselves: the lifecycle suite case by case, and the harness that runs and shows them. */
import { stripVTControlCharacters } from "node:util";
import { describe, expect, it } from "vitest";
import { runEvalCommand } from "./harness/command.ts";
import type { EvalCase, Suite } from "./harness/eval-case.ts";
import { openInProcessRunner } from "./harness/in-process-runner.ts";
import { suiteTable, summaryLine } from "./harness/result-table.ts";
import { runCase, runSuite, type CaseResult } from "./harness/run-suite.ts";
import type { Runner } from "./harness/runner.ts";
import { SUITES } from "./suites/suites.ts";

// Titles of `it.each` are cut behind forty characters, and ids are longer.
for (const suite of SUITES) {
  describe(`suite ${suite.name}`, () => {
    for (const evalCase of suite.cases) {
      it(evalCase.id, async () => {
        const { result, detail } = await runCase(suite, evalCase, openInProcessRunner);
        expect({ result, detail }).toEqual({ result: "passed", detail: "" });
      });
    }

    it("gives every case an id of its own", () => {
      const ids = suite.cases.map(({ id }) => id);
      expect(new Set(ids).size).toBe(ids.length);
    });

    it("names every test by the whole id of its case (S-11)", ({ task }) => {
      const titles = task.suite?.tasks.map(({ name }) => name);
      expect(titles).toEqual(expect.arrayContaining(suite.cases.map(({ id }) => id)));
    });
  });
}

const passing: EvalCase = { id: "passes", title: "It passes", run: async () => undefined };
const throwing: EvalCase = {
  id: "throws",
  title: "It throws",
  run: () => Promise.reject(new Error("it is Tuesday")),
};
const restarting: EvalCase = { id: "restarts", title: "It restarts", needs: ["restart"], run: throwing.run };

const suite: Suite = {
  name: "sample",
  title: "A sample",
  cases: [passing, throwing, restarting],
};

/** A runner that can do nothing. */
async function openNothing(): Promise<Runner> {
  const never = () => Promise.reject(new Error("not expected"));
  return {
    name: "nothing",
    can: {},
    send: never,
    history: never,
    sessions: never,
    verify: never,
    now: () => 0,
    advanceClock: () => undefined,
    modelInputs: () => [],
    restart: never,
    judge: () => undefined,
    close: async () => undefined,
  };
}

describe("running a suite", () => {
  it("marks a case that throws as failed, with its message, and goes on", async () => {
    const { cases } = await runSuite(suite, openNothing);
    expect(cases.map(({ id, result, detail }) => ({ id, result, detail }))).toEqual([
      { id: "passes", result: "passed", detail: "" },
      { id: "throws", result: "failed", detail: "it is Tuesday" },
      { id: "restarts", result: "skipped", detail: "nothing has no restart" },
    ]);
  });

  it("fails a case after which an invariant of the suite does not hold", async () => {
    const strict: Suite = {
      ...suite,
      invariants: () => Promise.reject(new Error("two sessions are latest")),
    };
    expect(await runCase(strict, passing, openNothing)).toMatchObject({
      result: "failed",
      detail: "two sessions are latest",
    });
  });

  it("fails a case whose runner cannot be opened", async () => {
    const broken = () => Promise.reject(new Error("the disk is full"));
    expect(await runCase(suite, passing, broken)).toMatchObject({
      result: "failed",
      detail: "the disk is full",
    });
  });

  it("gives a case keys of its own, the same one for the same name", async () => {
    const seen: string[] = [];
    const asking: EvalCase = {
      ...passing,
      run: async ({ key }) => void seen.push(key("a"), key("a"), key("b")),
    };
    await runCase(suite, asking, openNothing);
    await runCase(suite, asking, openNothing);
    expect(new Set(seen).size).toBe(4);
  });
});

describe("showing results", () => {
  const results: CaseResult[] = [
    { id: "passes", title: "It passes", result: "passed", ms: 12.4, detail: "" },
    { id: "throws", title: "It throws", result: "failed", ms: 3, detail: "it is Tuesday" },
    { id: "later", title: "It comes later", result: "skipped", ms: 0, detail: "it has no restart" },
  ];
  const shown = { name: "sample", title: "A sample", cases: results };

  it("draws one table a suite with case, what, result, time and detail", () => {
    expect(stripVTControlCharacters(suiteTable(shown, 100))).toMatchInlineSnapshot(`
      "A sample (sample)
      ┌────────┬─────────────────────────────────────┬─────────┬──────────┬──────────────────────────────┐
      │ case   │ what                                │ result  │ time     │ detail                       │
      ├────────┼─────────────────────────────────────┼─────────┼──────────┼──────────────────────────────┤
      │ passes │ It passes                           │ passed  │ 12 ms    │                              │
      │ throws │ It throws                           │ failed  │ 3 ms     │ it is Tuesday                │
      │ later  │ It comes later                      │ skipped │ 0 ms     │ it has no restart            │
      └────────┴─────────────────────────────────────┴─────────┴──────────┴──────────────────────────────┘"
    `);
  });

  it("sums up what counts, and says what does not", () => {
    expect(summaryLine([shown])).toBe("1 passed, 1 failed, 1 skipped");
  });
});

describe("the command line", () => {
  async function call(...args: string[]) {
    const out: string[] = [];
    const err: string[] = [];
    const code = await runEvalCommand(args, {
      suites: [suite, { name: "good", title: "Good", cases: [passing] }],
      runners: { nothing: openNothing, "in-process": openNothing },
      out: (text) => out.push(text),
      err: (text) => err.push(text),
    });
    return { code, out: out.join("\n"), err: err.join("\n") };
  }

  it("ends with 1 when a case failed and with 0 when none did", async () => {
    expect((await call()).code).toBe(1);
    expect(await call("good")).toMatchObject({ code: 0, out: expect.stringContaining("1 passed, 0 failed") });
  });

  it("refuses a suite or runner that does not exist, names those that do, and ends with 2", async () => {
    expect(await call("bad")).toEqual({
      code: 2,
      out: "",
      err: 'There is no suite "bad". Known: sample, good.',
    });
    expect(await call("--runner", "moon")).toEqual({
      code: 2,
      out: "",
      err: 'There is no runner "moon". Known: nothing, in-process.',
    });
  });

  it("refuses an unknown option with 2, and explains itself with 0", async () => {
    expect(await call("--loud")).toMatchObject({ code: 2, err: expect.stringContaining("--loud") });
    expect(await call("--help")).toMatchObject({ code: 0, out: expect.stringContaining("--runner") });
  });

  it("prints JSON and nothing else with --json", async () => {
    const { out } = await call("--json");
    expect(JSON.parse(out)).toMatchObject({
      suites: [{ name: "sample", cases: [{ id: "passes", result: "passed" }, {}, {}] }, { name: "good" }],
      summary: { passed: 2, failed: 1, skipped: 1 },
    });
  });
});
