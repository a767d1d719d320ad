/** The fact that tests of erasing have forgotten, where it is hunted for, and a tool whose long result says it. */
import { tool } from "@langchain/core/tools";
import { z } from "zod";
import { receiptSchema, type Receipt } from "#src/erasure/receipt.ts";
import { hunt, type Catch } from "#src/erasure/testing/hunt.ts";
import type { TurnReply } from "#src/turns/turn-reply.ts";
import type { Harness } from "./harness.ts";

export const FACT = "My neighbour keeps zebrafish in Ostend";

/** How `hunt` finds it. */
export const PREY = { text: FACT, words: ["zebrafish", "ostend"] };

/** What of it lies in the files of a home. */
export function caught({ folder }: Pick<Harness, "folder">): Catch[] {
  return hunt(folder, PREY);
}

/** @throws when the reply has no receipt */
export function receiptOf(reply: TurnReply): Receipt {
  return receiptSchema.parse(reply.envelope.data?.["receipt"]);
}

/** What became of each place, in a few words. */
export function outcomesOf(reply: TurnReply): Record<string, string> {
  return Object.fromEntries(
    receiptOf(reply).lines.map((line) => [
      line.place,
      "count" in line ? `${line.outcome} ${line.count}` : line.outcome,
    ]),
  );
}

/** Says it in the middle of a result that is too long for a conversation of {@link LOOKING}. */
const look = tool(() => `${"x".repeat(4_000)} ${FACT} ${"y".repeat(4_000)}`, {
  name: "look",
  description: "looks",
  schema: z.object({}),
});

/** The call of it, as a model asks for it. */
export const LOOK = { toolCalls: [{ id: "a", name: "look", args: "{}" }] };

/** For a harness that has the tool. */
export const LOOKING = {
  config: { limits: { toolResultCharacters: 1_000 } },
  adjust: <Deps extends object>(deps: Deps) => ({ ...deps, tools: [look] }),
};
