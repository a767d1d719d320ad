/** `/new` cuts: Mozi A1, A2, B1 and F2. */
import { expectEqual } from "#evals/graders/expect.ts";
import { expectModelInputExcludes, lastInput } from "#evals/graders/context.ts";
import { expectAnswered, expectCode, expectNotAnnounced, expectOutcome } from "#evals/graders/replies.ts";
import { expectChain, expectRotated, latestOf, sessionAt, userTexts } from "#evals/graders/sessions.ts";
import type { EvalCase } from "#evals/harness/eval-case.ts";

/** All cases, in the order in which they are shown. */
export const newCases: readonly EvalCase[] = [
  {
    id: "session_new_hard_cut_creates_segment",
    title: "A1: /new seals the session with its messages and moves latest to a new, empty one",
    async run({ runner, key }) {
      const first = await runner.send(key(), "my cat is called Ada");
      await runner.send(key(), "she is three");
      const cut = await runner.send(key(), "/new");
      expectOutcome(cut, "rotated");
      expectCode(cut, "session_rotated");
      expectNotAnnounced(cut);
      expectRotated(first, cut);
      const sessions = await runner.sessions(key());
      expectChain(sessions, 2);
      expectEqual("the session that /new names", latestOf(sessions).sessionId, cut.sessionId);
      expectEqual("the turns of the archived session", sessionAt(sessions, 1).turns, 2);
      expectEqual("the turns of the new session", latestOf(sessions).turns, 0);
      expectEqual("the reason of the new session", latestOf(sessions).reason, "command");
      expectEqual("what was said before", userTexts(await runner.history(first.sessionId)), [
        "my cat is called Ada",
        "she is three",
      ]);
    },
  },
  {
    id: "session_new_repeated_chain_integrity",
    title: "A2: /new twice gives the chain S1, S2, S3 with S3 latest",
    async run({ runner, key }) {
      const first = await runner.send(key(), "hello");
      const second = await runner.send(key(), "/new");
      const third = await runner.send(key(), "/new");
      const sessions = await runner.sessions(key());
      expectChain(sessions, 3);
      const ids = sessions.map(({ sessionId }) => sessionId);
      expectEqual("the chain", ids, [first.sessionId, second.sessionId, third.sessionId]);
      const answer = await runner.send(key(), "are you there?");
      expectEqual("the session that answers", answer.sessionId, third.sessionId);
    },
  },
  {
    id: "segmented_mode_new_must_rotate",
    title: "F2: in segmented mode /new rotates; clearing the session in place does not pass",
    needs: ["puppetModel"],
    async run({ runner, key }) {
      const before = await runner.send(key(), "remember the word heliotrope");
      const after = await runner.send(key(), "/new what was the word?");
      expectAnswered(after, "what was the word?");
      expectRotated(before, after);
      expectChain(await runner.sessions(key()), 2);
      expectEqual("the old transcript", userTexts(await runner.history(before.sessionId)), [
        "remember the word heliotrope",
      ]);
      expectEqual("the new transcript", userTexts(await runner.history(after.sessionId)), [
        "what was the word?",
      ]);
    },
  },
  {
    id: "session_new_starts_with_empty_context",
    title: "A1: after /new the model is given nothing of the session before",
    needs: ["modelInputs"],
    async run({ runner, key }) {
      await runner.send(key(), "remember the word heliotrope");
      await runner.send(key(), "/new what was the word?");
      expectModelInputExcludes(lastInput(runner.modelInputs()), ["heliotrope"]);
    },
  },
  {
    id: "session_new_calls_no_model",
    title: "A1: a bare /new calls no model; /new with text calls it once, in the new session",
    needs: ["modelInputs"],
    async run({ runner, key }) {
      await runner.send(key(), "hello");
      const before = runner.modelInputs().length;
      await runner.send(key(), "/new");
      expectEqual("the model calls of /new", runner.modelInputs().length - before, 0);
      await runner.send(key(), "/new and hello again");
      expectEqual("the model calls of /new with text", runner.modelInputs().length - before, 1);
    },
  },
];
