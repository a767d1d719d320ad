/** Time ends a session: Mozi B2 and B3, and the day boundary of the design. */
import { expectEqual } from "#evals/graders/expect.ts";
import { expectAnnounced, expectAnswered, expectNotAnnounced } from "#evals/graders/replies.ts";
import { expectChain, expectRotated, expectSameSession, latestOf } from "#evals/graders/sessions.ts";
import type { EvalCase } from "#evals/harness/eval-case.ts";
import { BOUNDARY_MIN_IDLE, HOUR, IDLE_LIMIT, MINUTE, until } from "./time.ts";

/** All cases, in the order in which they are shown. */
export const temporalCases: readonly EvalCase[] = [
  {
    id: "session_rollover_temporal_expired",
    title: "B2: a message after 12 idle hours opens a new session, which answers it and says why",
    needs: ["clock"],
    async run({ runner, key }) {
      runner.advanceClock(until(runner.now(), 9));
      const before = await runner.send(key(), "good morning");
      runner.advanceClock(IDLE_LIMIT);
      const after = await runner.send(key(), "good evening");
      expectAnswered(after, "good evening");
      expectRotated(before, after);
      expectAnnounced(after, "since the last turn");
      const sessions = await runner.sessions(key());
      expectChain(sessions, 2);
      expectEqual("the reason of the new session", latestOf(sessions).reason, "idle");
    },
  },
  {
    id: "session_rollover_temporal_within_window_noop",
    title: "B3: a message one millisecond before 12 idle hours stays in the session",
    needs: ["clock"],
    async run({ runner, key }) {
      runner.advanceClock(until(runner.now(), 9));
      const before = await runner.send(key(), "good morning");
      runner.advanceClock(IDLE_LIMIT - 1);
      const after = await runner.send(key(), "good evening");
      expectSameSession(before, after);
      expectNotAnnounced(after);
      expectChain(await runner.sessions(key()), 1);
    },
  },
  {
    id: "session_rollover_temporal_window_slides",
    title: "B3: each turn renews the window; turns at 05:00, 10:00 and 18:00 are one session",
    needs: ["clock"],
    async run({ runner, key }) {
      runner.advanceClock(until(runner.now(), 5));
      const first = await runner.send(key(), "one");
      runner.advanceClock(5 * HOUR);
      await runner.send(key(), "two");
      runner.advanceClock(8 * HOUR);
      expectSameSession(first, await runner.send(key(), "three"));
    },
  },
  {
    id: "session_rollover_reading_is_no_activity",
    title: "B2: commands that only read neither renew the window nor rotate an expired session",
    needs: ["clock"],
    async run({ runner, key }) {
      runner.advanceClock(until(runner.now(), 9));
      const first = await runner.send(key(), "good morning");
      runner.advanceClock(IDLE_LIMIT - MINUTE);
      await runner.send(key(), "/status");
      runner.advanceClock(2 * MINUTE);
      await runner.send(key(), "/history");
      expectChain(await runner.sessions(key()), 1);
      expectRotated(first, await runner.send(key(), "good evening"));
    },
  },
  {
    id: "session_rollover_day_boundary",
    title: "B2: the first message after 04:00 opens a new session, though only 8 hours have passed",
    needs: ["clock"],
    async run({ runner, key }) {
      runner.advanceClock(until(runner.now(), 20));
      const before = await runner.send(key(), "good night");
      runner.advanceClock(until(runner.now(), 4));
      const after = await runner.send(key(), "good morning");
      expectRotated(before, after);
      expectAnnounced(after, "the day ended");
      expectEqual(
        "the reason of the new session",
        latestOf(await runner.sessions(key())).reason,
        "dayBoundary",
      );
    },
  },
  {
    id: "session_rollover_day_boundary_not_before",
    title: "B3: one millisecond before 04:00 it is still the same day",
    needs: ["clock"],
    async run({ runner, key }) {
      runner.advanceClock(until(runner.now(), 20));
      const before = await runner.send(key(), "good night");
      runner.advanceClock(until(runner.now(), 4) - 1);
      expectSameSession(before, await runner.send(key(), "still up"));
    },
  },
  {
    id: "session_rollover_day_boundary_deferred",
    title:
      "B3: a conversation active at 04:00 goes on until it has been idle for 10 minutes, then rotates once",
    needs: ["clock"],
    async run({ runner, key }) {
      runner.advanceClock(until(runner.now(), 3, 55));
      const first = await runner.send(key(), "it is late");
      runner.advanceClock(9 * MINUTE);
      expectSameSession(first, await runner.send(key(), "still here"));
      runner.advanceClock(BOUNDARY_MIN_IDLE);
      const next = await runner.send(key(), "and now");
      expectRotated(first, next);
      runner.advanceClock(HOUR);
      expectSameSession(next, await runner.send(key(), "no second time"));
    },
  },
  {
    id: "session_rollover_long_absence_rotates_once",
    title: "B2: after ten days away there is one new session, not ten",
    needs: ["clock"],
    async run({ runner, key }) {
      await runner.send(key(), "goodbye");
      runner.advanceClock(240 * HOUR);
      await runner.send(key(), "hello again");
      expectChain(await runner.sessions(key()), 2);
    },
  },
  {
    id: "session_rollover_keys_are_apart",
    title: "B2: a rotation on one key leaves the sessions of another alone",
    needs: ["clock"],
    async run({ runner, key }) {
      runner.advanceClock(until(runner.now(), 9));
      await runner.send(key("quiet"), "hello");
      const busy = await runner.send(key("busy"), "hello");
      runner.advanceClock(IDLE_LIMIT - HOUR);
      await runner.send(key("busy"), "still here");
      runner.advanceClock(HOUR);
      await runner.send(key("quiet"), "back");
      expectSameSession(busy, await runner.send(key("busy"), "and me"));
      expectChain(await runner.sessions(key("quiet")), 2);
      expectChain(await runner.sessions(key("busy")), 1);
    },
  },
];
