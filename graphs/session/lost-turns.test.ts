import { describe, expect, it, onTestFinished } from "vitest";
import { historyNamespace, turnItemKey } from "#src/storage/session-items.ts";
import { createHarness, echoModel, KEY, latestOf, OWNER } from "./testing/harness.ts";

/** A conversation of four turns whose turns `lost` went with the log of the store. */
async function conversationWithout(lost: readonly number[]) {
  const harness = await createHarness({ model: echoModel() });
  onTestFinished(() => harness.close());
  for (const text of ["one", "two", "three", "four"]) await harness.send(text);
  const { sessionId } = latestOf(await harness.chain());
  const namespace = historyNamespace({ owner: OWNER, sessionKey: KEY, sessionId });
  for (const turn of lost) await harness.storage.store.delete(namespace, turnItemKey(turn));
  await harness.restart();
  const numbers = async () => (await harness.turns(sessionId)).map(({ turn }) => turn);
  return { harness, numbers };
}

describe("turns that were answered and are gone from the store (R-4)", () => {
  it.each([
    [[4], "Turn 4 of this conversation", [1, 2, 3, 5]],
    [[3, 4], "Turns 3 to 4 of this conversation", [1, 2, 5]],
    [[1, 2, 3, 4], "Turns 1 to 4 of this conversation", [5]],
  ])("are named by the next message, whose number is behind them: %j", async (lost, named, kept) => {
    const { harness, numbers } = await conversationWithout(lost);
    const reply = await harness.send("five");
    expect(reply.announcement).toContain(named);
    expect(reply.turn).toBe(5);
    expect(await numbers()).toEqual(kept);
    expect((await harness.send("six")).announcement).toBeUndefined();
    expect(await numbers()).toEqual([...kept, 6]);
  });
});
