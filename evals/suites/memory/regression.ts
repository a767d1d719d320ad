/** What the commands of memory have always done: their codes, and that the same asked twice is the same answered. */
import { expectEqual } from "#evals/graders/expect.ts";
import { expectCode, expectRepeated } from "#evals/graders/replies.ts";
import type { EvalCase } from "#evals/harness/eval-case.ts";
import { factsIn, shown } from "./told.ts";

const CODES: readonly (readonly [command: string, code: string])[] = [
  ["/remember I like jazz", "memory_stored"],
  ["/remember  i like  Jazz.", "memory_known"],
  ["/remember", "command_usage"],
  ["/remember my card is 4111 1111 1111 1111", "memory_policy_denied"],
  ["/memory", "memory"],
  ["/memory show", "memory_shown"],
  ["/memory show jazz", "memory_shown"],
  ["/memory long show --domain user_profile jazz", "memory_shown"],
  ["/memory long task show --namespace lily", "memory_shown"],
  ["/memory short checkpoints", "memory_short_shown"],
  ["/memory conflicts", "memory_conflicts"],
  ["/memory review", "memory_review"],
  ["/forget zebra", "memory_not_found"],
  ["/forget jazz --dry-run", "memory_forget_preview"],
  ["/forget jazz", "memory_forgotten"],
  ["/forget jazz", "memory_not_found"],
];

/** All cases, in the order in which they are shown. */
export const regressionCases: readonly EvalCase[] = [
  {
    id: "memory_command_codes_are_stable",
    title: "Each command of memory answers with its code",
    async run({ runner, key }) {
      for (const [command, code] of CODES) expectCode(await runner.send(key(), command), code);
    },
  },
  {
    id: "memory_show_is_deterministic",
    title: "What is shown twice is the same, and reading makes nothing fresher",
    needs: ["clock"],
    async run({ runner, key }) {
      for (const text of ["I like jazz", "I was born in Lisbon", "--task lily We chose SQLite"])
        await runner.send(key(), `/remember ${text}`);
      const first = factsIn(await runner.send(key(), "/memory show"));
      runner.advanceClock(3_600_000);
      expectEqual("the second time", factsIn(await runner.send(key(), "/memory show")), first);
    },
  },
  {
    id: "memory_delivered_twice_changes_once",
    title: "A command that is delivered twice changes memory once and repeats its reply",
    async run(on) {
      const { runner, key } = on;
      const remembered = await runner.send(key(), "/remember I like jazz", { deliveryId: "d1" });
      expectRepeated(remembered, await runner.send(key(), "/remember I like jazz", { deliveryId: "d1" }));
      const forgotten = await runner.send(key(), "/forget jazz", { deliveryId: "d2" });
      await runner.send(key(), "/remember I like jazz", { deliveryId: "d3" });
      expectRepeated(forgotten, await runner.send(key(), "/forget jazz", { deliveryId: "d2" }));
      expectEqual("what is shown", await shown(on), ["I like jazz"]);
    },
  },
  {
    id: "memory_forget_asks_which",
    title: "/forget erases nothing when several facts have the words",
    async run(on) {
      const { runner, key } = on;
      await runner.send(key(), "/remember The blue boat is in Ghent");
      await runner.send(key(), "/remember The blue car is in Oslo");
      const asked = await runner.send(key(), "/forget blue");
      expectEqual("whether it was refused", asked.code === "memory_forgotten", false);
      expectEqual("how many are left", (await shown(on)).length, 2);
    },
  },
  {
    id: "memory_trivial_variants_are_one_fact",
    title: "Case, spacing, width and closing marks make no second fact",
    async run(on) {
      for (const text of ["I live in Ghent", "i live in  Ghent.", "I LIVE IN GHENT", "I live in Ｇhent"])
        await on.runner.send(on.key(), `/remember ${text}`);
      expectEqual("how many are kept", (await shown(on)).length, 1);
    },
  },
];
