/** The program ends between turns and starts again: nothing but the data decides. */
import { expectModelInputIncludes, lastInput } from "#evals/graders/context.ts";
import { expectEqual } from "#evals/graders/expect.ts";
import { expectRepeated } from "#evals/graders/replies.ts";
import {
  expectChain,
  expectRotated,
  expectSameSession,
  latestOf,
  userTexts,
} from "#evals/graders/sessions.ts";
import type { EvalCase } from "#evals/harness/eval-case.ts";
import { IDLE_LIMIT } from "./time.ts";

function shapeOf(sessions: Parameters<typeof expectChain>[0]) {
  return sessions.map(({ ordinal, latest, sealed, turns, reason, continues }) => ({
    ordinal,
    latest,
    sealed,
    turns,
    reason,
    continues: continues.length,
  }));
}

/** All cases, in the order in which they are shown. */
export const restartCases: readonly EvalCase[] = [
  {
    id: "restart_conversation_goes_on",
    title: "After a restart the session goes on, and the model is given what was said before it",
    needs: ["restart", "modelInputs"],
    async run({ runner, key }) {
      const before = await runner.send(key(), "the word is marigold");
      await runner.restart();
      const after = await runner.send(key(), "which word?");
      expectSameSession(before, after);
      expectModelInputIncludes(lastInput(runner.modelInputs()), ["marigold", "which word?"]);
      expectEqual("the transcript", userTexts(await runner.history(after.sessionId)), [
        "the word is marigold",
        "which word?",
      ]);
    },
  },
  {
    id: "restart_does_not_renew_the_window",
    title: "The window is measured across a restart, from the stored time of the last turn",
    needs: ["restart", "clock"],
    async run({ runner, key }) {
      const before = await runner.send(key(), "good morning");
      runner.advanceClock(IDLE_LIMIT / 2);
      await runner.restart();
      runner.advanceClock(IDLE_LIMIT / 2);
      expectRotated(before, await runner.send(key(), "good evening"));
      expectEqual("the reason", latestOf(await runner.sessions(key())).reason, "idle");
    },
  },
  {
    id: "restart_redelivery_is_still_one_turn",
    title: "A delivery that was handled before a restart is answered from what is stored",
    needs: ["restart"],
    async run({ runner, key }) {
      const first = await runner.send(key(), "hello", { deliveryId: "d-1" });
      const cut = await runner.send(key(), "/new", { deliveryId: "d-2" });
      await runner.restart();
      expectRepeated(first, await runner.send(key(), "hello", { deliveryId: "d-1" }));
      expectRepeated(cut, await runner.send(key(), "/new", { deliveryId: "d-2" }));
      expectChain(await runner.sessions(key()), 2);
    },
  },
  {
    id: "restart_between_all_turns",
    title: "A conversation with a restart after every message is the one without",
    needs: ["restart"],
    async run({ runner, key }) {
      const texts = ["one", "/title Plans", "/new two", "three", "/resume 1", "four"];
      for (const text of texts) {
        await runner.send(key("steady"), text);
      }
      for (const text of texts) {
        await runner.send(key("restarted"), text);
        await runner.restart();
      }
      const shapes = await Promise.all(
        [key("restarted"), key("steady")].map(async (name) => shapeOf(await runner.sessions(name))),
      );
      expectEqual("the chain", shapes[0], shapes[1]);
    },
  },
];
