/** Defects that were found by trying Lily out, each as a case that keeps it mended. */
import { expectThat } from "#evals/graders/expect.ts";
import {
  expectAnnounced,
  expectAnswered,
  expectCode,
  expectOutcome,
  deliverTwice,
  expectRepeated,
} from "#evals/graders/replies.ts";
import { expectChain, expectSameSession } from "#evals/graders/sessions.ts";
import type { EvalCase } from "#evals/harness/eval-case.ts";
import { IDLE_LIMIT, MINUTE } from "./time.ts";

/** Commands that change nothing, each sent to an expired session. */
const HARMLESS = [
  "/rollover",
  "/title",
  "/model",
  "/recall",
  "/rollover idle soon",
  `/title ${"x".repeat(200)}`,
];

/** All cases, in the order in which they are shown. */
export const fieldReportCases: readonly EvalCase[] = [
  {
    id: "session_new_with_new_as_text",
    title:
      "/new /new answers the text /new in the new session, as /new /status does, and is not told as repeated",
    async run({ runner, key }) {
      await runner.send(key(), "hello");
      const first = await runner.send(key(), "/new /new", { deliveryId: "d-1" });
      expectThat(!first.repeated, "the first delivery is told as repeated");
      expectRepeated(first, await runner.send(key(), "/new /new", { deliveryId: "d-1" }));
    },
  },
  {
    id: "session_new_with_new_and_text",
    title: "/new /new plans answers /new plans; delivered again it is the same turn",
    needs: ["puppetModel"],
    async run({ runner, key }) {
      await runner.send(key(), "hello");
      const first = await runner.send(key(), "/new /new plans", { deliveryId: "d-1" });
      expectAnswered(first, "/new plans");
      expectRepeated(first, await runner.send(key(), "/new /new plans", { deliveryId: "d-1" }));
    },
  },
  {
    id: "session_rollover_not_by_command_that_changes_nothing",
    title: "B2: bare /rollover, /title, /model and refused commands rotate no expired session",
    needs: ["clock"],
    async run({ runner, key }) {
      for (const text of HARMLESS) {
        const name = text.slice(0, 20);
        await runner.send(key(name), "hello");
        runner.advanceClock(IDLE_LIMIT);
        await runner.send(key(name), text);
        expectThat((await runner.sessions(key(name))).length === 1, `${name} opened a second session`);
      }
    },
  },
  {
    id: "session_rollover_by_command_is_announced",
    title: "B2: a rollover is announced, whichever message it came with",
    needs: ["clock"],
    async run({ runner, key }) {
      await runner.send(key(), "hello");
      runner.advanceClock(IDLE_LIMIT);
      const recall = await runner.send(key(), "/recall nothing-of-that-kind");
      const next = await runner.send(key(), "good morning");
      expectChain(await runner.sessions(key()), 2);
      expectAnnounced(recall.announcement === undefined ? next : recall, "since the last turn");
    },
  },
  {
    id: "rollover_command_without_duration_is_refused",
    title: "/rollover idle without a duration is refused with its usage",
    async run({ runner, key }) {
      await runner.send(key(), "hello");
      const reply = await runner.send(key(), "/rollover idle");
      expectOutcome(reply, "refused");
      expectCode(reply, "command_usage");
    },
  },
  {
    id: "rollover_command_takes_no_bare_number_for_milliseconds",
    title: "/rollover idle 24 and /rollover idle 24 h are 24 hours or refused, not 24 milliseconds",
    needs: ["clock"],
    async run({ runner, key }) {
      for (const text of ["/rollover idle 24", "/rollover idle 24 h"]) {
        const before = await runner.send(key(text), "hello");
        await runner.send(key(text), text);
        runner.advanceClock(MINUTE);
        expectSameSession(before, await runner.send(key(text), "still here"));
      }
    },
  },
  {
    id: "rollover_command_beyond_time_is_refused",
    title:
      "/rollover idle with a duration that no date can hold is refused; what is told as failed is not stored",
    async run({ runner, key }) {
      await runner.send(key(), "hello");
      await runner.send(key(), "/rollover day off");
      const first = await runner.send(key(), "/rollover idle 999999999y", { deliveryId: "d-1" });
      const again = await runner.send(key(), "/rollover idle 999999999y", { deliveryId: "d-1" });
      expectThat(
        first.outcome !== "failed" || !again.repeated,
        `told as failed (${first.text}), then as done (${again.text})`,
      );
      expectOutcome(first, "refused");
    },
  },
  {
    id: "delivery_id_of_new_with_other_text_is_refused",
    title: "The delivery id of a bare /new, used for another text, is refused like any other",
    async run({ runner, key }) {
      await runner.send(key(), "hello");
      const cut = await runner.send(key(), "/new", { deliveryId: "d-1" });
      expectCode(await runner.send(key(), "something else", { deliveryId: "d-1" }), "delivery_conflict");
      expectRepeated(cut, await runner.send(key(), "/new", { deliveryId: "d-1" }));
    },
  },
  {
    id: "delivery_id_that_ends_in_again",
    title: "Any text is a delivery id: that of a message and the same with #again are two messages",
    async run({ runner, key }) {
      await runner.send(key(), "hello", { deliveryId: "d-1#again" });
      await deliverTwice(runner, key(), "good day");
    },
  },
];
