/** Checkpoints that something else has changed: the transcript makes up for them, whatever is left. */
import { join } from "node:path";
import Database from "better-sqlite3";
import { describe, expect, it } from "vitest";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { verifyOwner } from "#src/sessions/verify.ts";
import { echoModel, inputOf, latestOf, OWNER, type Harness } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();

/** Changes the newest `count` checkpoints of all threads in the file, which nobody has open meanwhile. */
function damage(lily: Harness, how: string, count = 1000): void {
  const db = new Database(join(lily.folder, "checkpoints", "checkpointer.sqlite"));
  db.prepare(
    `UPDATE checkpoints SET ${how} WHERE rowid IN (SELECT rowid FROM checkpoints ORDER BY rowid DESC LIMIT ?)`,
  ).run(count);
  db.close();
}

const isWhole = async (lily: Harness) => (await verifyOwner(lily.sessions.repository, OWNER)).ok;

const DAMAGE = [
  ["cut off in the middle", "checkpoint = substr(checkpoint, 1, length(checkpoint) / 2)"],
  ["full of zeros", "checkpoint = zeroblob(length(checkpoint))"],
] as const;

describe.each(DAMAGE)("a conversation whose checkpoints are %s", (_what, how) => {
  it("goes on from its transcript with the next number, and says so once", async () => {
    const model = echoModel();
    const lily = await start({ model });
    for (const text of ["one", "two", "three"]) await lily.send(text);
    damage(lily, how);
    await lily.restart();
    const reply = await lily.send("four");
    expect(reply).toMatchObject({ outcome: "answered", turn: 4 });
    expect(reply.notice).toMatch(/checkpoint.*could not be read.*nothing is lost/u);
    expect(inputOf(model)).toEqual(
      ["one", "two", "three"].flatMap((text) => [`human: ${text}`, `ai: ${text}`]).concat("human: four"),
    );
    await lily.restart();
    expect(await lily.send("five")).toMatchObject({ turn: 5 });
    expect((await lily.send("six")).notice).toBeUndefined();
    expect(await isWhole(lily)).toBe(true);
  });
});

describe("a session without a checkpoint that can be read", () => {
  it("has its title, its model and its limits again, and ends by /new as ever", async () => {
    const lily = await start({ model: echoModel(), models: { "scripted:other": echoModel() } });
    await lily.send("hello");
    await lily.send("/title Plans");
    await lily.send("/model scripted:other");
    damage(lily, "checkpoint = 'x'");
    await lily.restart();
    const { envelope } = await lily.send("/status");
    expect(envelope.data).toMatchObject({ title: "Plans", model: "scripted:other", turns: 3 });
    expect(await lily.send("/new and on")).toMatchObject({ outcome: "answered", turn: 1 });
    const [first, second] = (await lily.chain()).sessions;
    expect([first?.sealed?.turns, second?.title]).toEqual([3, undefined]);
    expect(await isWhole(lily)).toBe(true);
  });

  it("answers a delivery that was answered before from what is stored", async () => {
    const model = echoModel();
    const lily = await start({ model });
    await lily.send("one", { deliveryId: "d1" });
    damage(lily, "metadata = 'x'");
    await lily.restart();
    expect(await lily.send("one", { deliveryId: "d1" })).toMatchObject({ repeated: true, turn: 1 });
    expect(model.calls).toHaveLength(1);
  });

  it("answers the message that was in flight when it comes again", async () => {
    const model = new ScriptedChatModel();
    const lily = await start({ model });
    await lily.send("one");
    const { sessionId } = latestOf(await lily.chain());
    await lily.crashBefore("callModel", { threadId: sessionId, deliveryId: "d2", text: "two" });
    damage(lily, "checkpoint = 'x'");
    await lily.restart();
    expect(await lily.send("two", { deliveryId: "d2" })).toMatchObject({ turn: 2, repeated: false });
    expect(inputOf(model)).toEqual(["human: one", "ai: one", "human: two"]);
  });
});
