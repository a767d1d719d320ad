/** Legacy mode: Mozi F1, and the way back from it. */
import { expectEqual } from "#evals/graders/expect.ts";
import { expectModelInputExcludes, lastInput } from "#evals/graders/context.ts";
import { expectAnswered, expectCode } from "#evals/graders/replies.ts";
import { expectChain, expectRotated, expectSameSession, userTexts } from "#evals/graders/sessions.ts";
import type { EvalCase } from "#evals/harness/eval-case.ts";

const LEGACY = { lifecycle: { mode: "legacy" } };

/** All cases, in the order in which they are shown. */
export const legacyCases: readonly EvalCase[] = [
  {
    id: "legacy_mode_new_inplace_clear",
    title: "F1: in legacy mode /new clears the context in place; there is no rotation and nothing is lost",
    needs: ["restart", "modelInputs"],
    async run({ runner, key }) {
      await runner.restart(LEGACY);
      const before = await runner.send(key(), "remember the word heliotrope");
      expectCode(await runner.send(key(), "/new"), "context_cleared");
      const after = await runner.send(key(), "what was the word?");
      expectAnswered(after, "what was the word?");
      expectSameSession(before, after);
      expectModelInputExcludes(lastInput(runner.modelInputs()), ["heliotrope"]);
      expectChain(await runner.sessions(key()), 1);
      expectEqual("the transcript", userTexts(await runner.history(after.sessionId)), [
        "remember the word heliotrope",
        "/new",
        "what was the word?",
      ]);
    },
  },
  {
    id: "legacy_mode_switches_both_ways",
    title: "F1, F2: the mode is switched in both directions on a live chain, which stays whole",
    needs: ["restart"],
    async run({ runner, key }) {
      const first = await runner.send(key(), "one");
      const second = await runner.send(key(), "/new two");
      expectRotated(first, second);
      await runner.restart(LEGACY);
      expectSameSession(second, await runner.send(key(), "/new three"));
      await runner.restart({});
      expectRotated(second, await runner.send(key(), "/new four"));
      expectChain(await runner.sessions(key()), 3);
    },
  },
];
