/** A channel delivers twice: the same delivery id is the same message, whatever happened in between. */
import { expectEqual } from "#evals/graders/expect.ts";
import {
  expectAnswered,
  expectCode,
  expectOutcome,
  deliverTwice,
  expectRepeated,
} from "#evals/graders/replies.ts";
import { expectChain, userTexts } from "#evals/graders/sessions.ts";
import type { EvalCase } from "#evals/harness/eval-case.ts";
import { FAIL } from "#evals/harness/puppet-model.ts";
import { IDLE_LIMIT } from "./time.ts";

/** All cases, in the order in which they are shown. */
export const deliveryCases: readonly EvalCase[] = [
  {
    id: "delivery_repeated_text_is_one_turn",
    title: "A message that is delivered twice is one turn with one reply",
    async run({ runner, key }) {
      const first = await deliverTwice(runner, key(), "hello");
      expectEqual("the turns", (await runner.history(first.sessionId)).length, 1);
    },
  },
  {
    id: "delivery_same_text_is_two_turns",
    title: "The same text under two delivery ids is two turns",
    async run({ runner, key }) {
      const first = await runner.send(key(), "hello", { deliveryId: "d-1" });
      expectEqual("repeated", (await runner.send(key(), "hello", { deliveryId: "d-2" })).repeated, false);
      expectEqual("the turns", (await runner.history(first.sessionId)).length, 2);
    },
  },
  {
    id: "delivery_repeated_new_rotates_once",
    title: "A /new that is delivered twice rotates once and is told the same",
    async run({ runner, key }) {
      await runner.send(key(), "hello");
      await deliverTwice(runner, key(), "/new");
      expectChain(await runner.sessions(key()), 2);
    },
  },
  {
    id: "delivery_repeated_new_with_text_rotates_once",
    title: "A /new with text that is delivered twice rotates once and answers once",
    async run({ runner, key }) {
      await runner.send(key(), "hello");
      const first = await deliverTwice(runner, key(), "/new what now?");
      expectChain(await runner.sessions(key()), 2);
      expectEqual("the new transcript", userTexts(await runner.history(first.sessionId)), ["what now?"]);
    },
  },
  {
    id: "delivery_repeated_after_rotation",
    title:
      "A message of an archived session that is delivered again is answered from there, and not asked again",
    async run({ runner, key }) {
      const first = await runner.send(key(), "hello", { deliveryId: "d-1" });
      await runner.send(key(), "/new something else");
      expectRepeated(first, await runner.send(key(), "hello", { deliveryId: "d-1" }));
      expectChain(await runner.sessions(key()), 2);
    },
  },
  {
    id: "delivery_repeated_of_expiring_message",
    title:
      "The message that caused a rollover, delivered again, is the same turn; later it causes no rollover",
    needs: ["clock"],
    async run({ runner, key }) {
      await runner.send(key(), "good morning");
      runner.advanceClock(IDLE_LIMIT);
      const first = await deliverTwice(runner, key(), "good evening");
      runner.advanceClock(2 * IDLE_LIMIT);
      expectRepeated(first, await runner.send(key(), "good evening", { deliveryId: "d-1" }));
      expectChain(await runner.sessions(key()), 2);
    },
  },
  {
    id: "delivery_id_with_other_text_is_refused",
    title: "A delivery id that was used for another text is refused and stores nothing",
    async run({ runner, key }) {
      const first = await runner.send(key(), "hello", { deliveryId: "d-1" });
      const other = await runner.send(key(), "something else", { deliveryId: "d-1" });
      expectOutcome(other, "refused");
      expectCode(other, "delivery_conflict");
      expectEqual("the turns", (await runner.history(first.sessionId)).length, 1);
    },
  },
  {
    id: "delivery_repeated_resume_rotates_once",
    title: "A /resume that is delivered twice opens one session",
    async run({ runner, key }) {
      await runner.send(key(), "hello");
      await runner.send(key(), "/new other");
      await deliverTwice(runner, key(), "/resume 1");
      expectChain(await runner.sessions(key()), 3);
    },
  },
  {
    id: "delivery_repeated_command_runs_once",
    title: "A command that changes something, delivered twice, is one turn",
    async run({ runner, key }) {
      await runner.send(key(), "hello");
      const first = await runner.send(key(), "/title Plans", { deliveryId: "d-1" });
      await runner.send(key(), "/title Other plans");
      expectRepeated(first, await runner.send(key(), "/title Plans", { deliveryId: "d-1" }));
      const title = await runner.send(key(), "/title");
      expectEqual("the title", title.text.includes("Other plans"), true);
    },
  },
  {
    id: "delivery_of_failed_turn_may_come_again",
    title: "A turn that failed stores nothing; its delivery may be sent again and is tried again",
    needs: ["puppetModel"],
    async run({ runner, key }) {
      const first = await runner.send(key(), "hello");
      expectOutcome(await runner.send(key(), FAIL, { deliveryId: "d-1" }), "failed");
      expectOutcome(await runner.send(key(), FAIL, { deliveryId: "d-1" }), "failed");
      expectAnswered(await runner.send(key(), "still there?"), "still there?");
      expectEqual("the transcript", userTexts(await runner.history(first.sessionId)), [
        "hello",
        "still there?",
      ]);
    },
  },
  {
    id: "delivery_of_failed_new_with_text_rotates_once",
    title: "A /new with text whose answer failed, sent again, is answered in the session it opened",
    needs: ["puppetModel"],
    async run({ runner, key }) {
      await runner.send(key(), "hello");
      expectOutcome(await runner.send(key(), `/new ${FAIL}`, { deliveryId: "d-1" }), "failed");
      expectOutcome(await runner.send(key(), `/new ${FAIL}`, { deliveryId: "d-1" }), "failed");
      expectChain(await runner.sessions(key()), 2);
    },
  },
  {
    id: "delivery_ids_belong_to_their_key",
    title: "The same delivery id on two keys is two messages",
    needs: ["puppetModel"],
    async run({ runner, key }) {
      await runner.send(key("one"), "hello", { deliveryId: "d-1" });
      const other = await runner.send(key("two"), "good day", { deliveryId: "d-1" });
      expectAnswered(other, "good day");
      expectEqual("repeated", other.repeated, false);
    },
  },
  {
    id: "delivery_at_once_is_one_turn",
    title:
      "The same delivery sent five times at once is one turn; five others at once are five turns in one session",
    async run({ runner, key }) {
      const same = await Promise.all(
        Array.from({ length: 5 }, () => runner.send(key(), "hello", { deliveryId: "d-1" })),
      );
      expectEqual("the deliveries that were handled", same.filter(({ repeated }) => !repeated).length, 1);
      await Promise.all(Array.from({ length: 5 }, (_, index) => runner.send(key(), `message ${index}`)));
      expectChain(await runner.sessions(key()), 1);
      expectEqual("the turns", (await runner.history(same[0]?.sessionId ?? "")).length, 6);
    },
  },
];
