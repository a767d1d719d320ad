/** The fact that tests of erasing have forgotten, where it is hunted for, and a tool whose long result says it. */
import { tool } from "@langchain/core/tools";
import { expect } from "vitest";
import { z } from "zod";
import { receiptSchema, type Receipt } from "#src/erasure/receipt.ts";
import { hunt, type Catch } from "#src/erasure/testing/hunt.ts";
import type { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { verifyOwner } from "#src/sessions/verify.ts";
import type { TurnReply } from "#src/turns/turn-reply.ts";
import { inputOf, OWNER, type Harness } from "./harness.ts";

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

/** What does not verify of what is kept of an owner. */
export async function problemsOf(lily: Harness, owner = OWNER): Promise<unknown> {
  return (await verifyOwner(lily.sessions.repository, owner)).problems;
}

/** Checks that everything of the fact is gone, also after a restart; what is left verifies and works. */
export async function expectGone(lily: Harness, model?: ScriptedChatModel): Promise<void> {
  expect(caught(lily)).toEqual([]);
  await lily.restart();
  expect(caught(lily)).toEqual([]);
  expect(await problemsOf(lily)).toEqual([]);
  await lily.send("and what now?");
  if (model !== undefined) expect(inputOf(model).join("\n")).not.toMatch(/zebrafish|ostend/iu);
}
