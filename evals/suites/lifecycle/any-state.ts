/** A hard trigger rolls in any state: Mozi B1. The document gives it no id; `session_new_rolls_in_any_state` is ours. */
import { expectEqual } from "#evals/graders/expect.ts";
import { expectOutcome } from "#evals/graders/replies.ts";
import { expectChain, latestOf } from "#evals/graders/sessions.ts";
import type { CaseContext, EvalCase } from "#evals/harness/eval-case.ts";
import { FAIL } from "#evals/harness/puppet-model.ts";
import type { Capability, Runner } from "#evals/harness/runner.ts";
import { IDLE_LIMIT, MINUTE } from "./time.ts";

interface State {
  readonly name: string;
  readonly words: string;
  readonly needs?: readonly Capability[];
  arrange(runner: Runner, key: string): Promise<void>;
}

const STATES: readonly State[] = [
  { name: "with_turns", words: "that has turns", arrange: say("hello", "and more") },
  { name: "empty", words: "that is empty", arrange: say("hello", "/new") },
  { name: "commands_only", words: "that has had commands only", arrange: say("/title A plan", "/status") },
  { name: "rollover_off", words: "whose automatic rollover is off", arrange: say("hello", "/rollover off") },
  {
    name: "just_resumed",
    words: "that continues an earlier one",
    arrange: say("hello", "/new", "other", "/resume 1"),
  },
  {
    name: "after_failure",
    words: "whose last turn failed",
    needs: ["puppetModel"],
    arrange: say("hello", FAIL),
  },
  {
    name: "expired",
    words: "whose window has expired",
    needs: ["clock"],
    async arrange(runner, key) {
      await runner.send(key, "hello");
      runner.advanceClock(IDLE_LIMIT + MINUTE);
    },
  },
  {
    name: "restarted",
    words: "after a restart of the program",
    needs: ["restart"],
    async arrange(runner, key) {
      await runner.send(key, "hello");
      await runner.restart();
    },
  },
];

function say(...texts: readonly string[]): State["arrange"] {
  return async (runner, key) => {
    for (const text of texts) await runner.send(key, text);
  };
}

function caseFor(state: State): EvalCase {
  return {
    id: `session_new_rolls_in_any_state/${state.name}`,
    title: `B1: /new rotates a session ${state.words}, exactly once`,
    ...(state.needs === undefined ? {} : { needs: state.needs }),
    async run({ runner, key }: CaseContext) {
      await state.arrange(runner, key());
      const before = await runner.sessions(key());
      const cut = await runner.send(key(), "/new");
      expectOutcome(cut, "rotated");
      const after = await runner.sessions(key());
      expectChain(after, before.length + 1);
      expectEqual("the latest session", latestOf(after).sessionId, cut.sessionId);
      expectEqual("the reason of the new session", latestOf(after).reason, "command");
      expectEqual("the turns of the new session", latestOf(after).turns, 0);
    },
  };
}

/** Nothing was said on the key: there is no session to end, and none is sealed. */
const unusedKey: EvalCase = {
  id: "session_new_rolls_in_any_state/unused_key",
  title:
    "B1: /new as the first message of a key ends nothing, and the next message is answered in its first session",
  async run({ runner, key }) {
    const cut = await runner.send(key(), "/new");
    expectOutcome(cut, "command");
    await runner.send(key(), "hello");
    expectChain(await runner.sessions(key()), 1);
  },
};

/** All cases, in the order in which they are shown. */
export const anyStateCases: readonly EvalCase[] = [...STATES.map(caseFor), unusedKey];
