/** `/resume`: a new session continues an earlier one, and nothing sealed is opened again. */
import { expectModelInputExcludes, expectModelInputIncludes, lastInput } from "#evals/graders/context.ts";
import { expectEqual } from "#evals/graders/expect.ts";
import { expectCode, expectOutcome } from "#evals/graders/replies.ts";
import { expectChain, expectRotated, latestOf } from "#evals/graders/sessions.ts";
import type { EvalCase } from "#evals/harness/eval-case.ts";
import { IDLE_LIMIT } from "./time.ts";

/** All cases, in the order in which they are shown. */
export const resumeCases: readonly EvalCase[] = [
  {
    id: "resume_continues_in_a_new_session",
    title: "/resume opens a new session that continues the named one; the named one stays sealed",
    async run({ runner, key }) {
      const first = await runner.send(key(), "the word is marigold");
      await runner.send(key(), "/new the word is foxglove");
      const resumed = await runner.send(key(), "/resume 1");
      expectCode(resumed, "session_resumed");
      expectRotated(first, resumed);
      const sessions = await runner.sessions(key());
      expectChain(sessions, 3);
      expectEqual("what the new session continues", latestOf(sessions).continues, [first.sessionId]);
    },
  },
  {
    id: "resume_named_context_is_the_named_session",
    title: "/resume 1 gives the model session 1 and leaves session 2 out",
    needs: ["modelInputs"],
    async run({ runner, key }) {
      await runner.send(key(), "the word is marigold");
      await runner.send(key(), "/new the word is foxglove");
      await runner.send(key(), "/resume 1");
      await runner.send(key(), "which word?");
      const input = lastInput(runner.modelInputs());
      expectModelInputIncludes(input, ["marigold", "which word?"]);
      expectModelInputExcludes(input, ["foxglove"]);
    },
  },
  {
    id: "resume_bare_undoes_a_rollover",
    title:
      "A bare /resume after a rollover by time gives the model both sessions in order; no message is lost",
    needs: ["clock", "modelInputs"],
    async run({ runner, key }) {
      await runner.send(key(), "the word is marigold");
      runner.advanceClock(IDLE_LIMIT);
      await runner.send(key(), "the next is foxglove");
      await runner.send(key(), "/resume");
      await runner.send(key(), "which words?");
      const said = ["the word is marigold", "the next is foxglove", "which words?"];
      expectModelInputIncludes(lastInput(runner.modelInputs()), said);
    },
  },
  {
    id: "resume_twice_repeats_nothing",
    title: "/resume of a session that continues others gives each turn once, in order",
    needs: ["modelInputs"],
    async run({ runner, key }) {
      for (const text of ["one marigold", "/new two foxglove", "/resume", "three heliotrope", "/resume"]) {
        await runner.send(key(), text);
      }
      await runner.send(key(), "which words?");
      const input = lastInput(runner.modelInputs());
      const asked = input.filter(({ type }) => type === "human").map(({ text }) => text);
      expectEqual("what the user said", asked, [
        "one marigold",
        "two foxglove",
        "three heliotrope",
        "which words?",
      ]);
    },
  },
  {
    id: "resume_of_nothing_changes_nothing",
    title:
      "/resume without an earlier session, of the open one or of an unknown one is refused and changes nothing",
    async run({ runner, key }) {
      await runner.send(key(), "hello");
      for (const text of ["/resume", "/resume 1", "/resume 7", "/resume zzzz"]) {
        expectOutcome(await runner.send(key(), text), "refused");
      }
      expectChain(await runner.sessions(key()), 1);
    },
  },
];
