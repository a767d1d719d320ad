import { statSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { sha256Of } from "#src/sessions/seal.ts";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { blobNamespace } from "#src/storage/session-items.ts";
import { createHarness, latestOf, OWNER, type Harness, type HarnessOptions } from "./testing/harness.ts";

const bytesOf = (fill: number, length = 300) => new Uint8Array(length).fill(fill);
const partOf = (bytes: Uint8Array) => ({
  type: "image_url",
  image_url: { url: `data:image/png;base64,${Buffer.from(bytes).toString("base64")}` },
});
const PICTURE = bytesOf(1);
const picture = partOf(PICTURE);
const text = (value: string) => ({ type: "text", text: value });
const shown = {
  type: "image",
  source_type: "base64",
  mime_type: "image/png",
  data: Buffer.from(PICTURE).toString("base64"),
};
const stored = { kind: "image", mimeType: "image/png", sha256: sha256Of(PICTURE), bytes: PICTURE.length };

let harness: Harness | undefined;
afterEach(async () => harness?.close());

async function open(options: HarnessOptions = {}) {
  const model = new ScriptedChatModel(() => "seen");
  harness = await createHarness({ model, ...options });
  return { model, harness };
}

const usersIn = (model: ScriptedChatModel) =>
  (model.calls.at(-1)?.messages ?? []).filter(({ type }) => type === "human").map(({ content }) => content);

const turnsOfLatest = async (from: Harness) => from.turns(latestOf(await from.chain()).sessionId);

describe("a message with a picture", () => {
  it("is shown to the model and stored by reference", async () => {
    const { model, harness } = await open();
    const reply = await harness.send([text("what is it?"), picture]);
    expect(reply).toMatchObject({ outcome: "answered", envelope: { message: "seen" } });
    expect(usersIn(model)).toEqual([[text("what is it?"), shown]]);
    const [turn] = await turnsOfLatest(harness);
    expect(turn?.messages[0]).toMatchObject({ role: "user", content: "what is it?", attachments: [stored] });
    const prompt = (await harness.send("/why --prompt")).envelope.text;
    expect(prompt).toContain("\nwhat is it?\n[picture: image/png, 300 bytes]\n");
  });

  it("needs no text, and text after it goes on", async () => {
    const { model, harness } = await open();
    expect(await harness.send("")).toMatchObject({ outcome: "refused", envelope: { code: "message_blank" } });
    expect(await harness.send([picture])).toMatchObject({ outcome: "answered" });
    expect(await harness.send("hi")).toMatchObject({ outcome: "answered", turn: 2 });
    expect(usersIn(model)).toEqual([[shown], "hi"]);
  });

  it("is shown again after a restart, and told in words once three newer ones have pictures", async () => {
    const { model, harness } = await open();
    await harness.send([text("one"), picture]);
    await harness.restart();
    await harness.send("what was it?");
    expect(usersIn(model)).toEqual([[text("one"), shown], "what was it?"]);
    for (const name of ["two", "three", "four"]) await harness.send([text(name), picture]);
    const users = usersIn(model);
    expect(users[0]).toBe("one\n[picture: image/png, 300 bytes]");
    expect(users.at(-1)).toEqual([text("four"), shown]);
  });

  it("is not held by the state: three big ones and ten texts store each once", async () => {
    const { harness } = await open({ config: { storage: { keepTurns: 50 } } });
    for (const fill of [1, 2, 3]) await harness.send([text("look"), partOf(bytesOf(fill, 2_000_000))]);
    const { sessionId } = latestOf(await harness.chain());
    for (let turn = 0; turn < 10; turn += 1) await harness.send("and?");
    const { values } = await harness.sessions.graph.getState({ configurable: { thread_id: sessionId } });
    expect(JSON.stringify(values).length).toBeLessThan(50_000);
    expect(await harness.storage.store.search(blobNamespace(OWNER))).toHaveLength(3);
    await harness.restart();
    const sizeOf = (...path: string[]) => statSync(join(harness.folder, ...path)).size;
    expect(sizeOf("checkpoints", "checkpointer.sqlite")).toBeLessThan(1_000_000);
    expect(sizeOf("memory", "store.sqlite")).toBeLessThan(3 * 2_800_000 + 1_000_000);
  });

  it("is the same delivery with the same picture, and a conflict with another one", async () => {
    const { model, harness } = await open();
    const content = [text("look"), picture];
    await harness.send(content, { deliveryId: "d1" });
    expect(await harness.send(content, { deliveryId: "d1" })).toMatchObject({ repeated: true, turn: 1 });
    for (const other of [[text("look"), partOf(bytesOf(9))], "look"])
      expect(await harness.send(other, { deliveryId: "d1" })).toMatchObject({
        envelope: { code: "delivery_conflict" },
      });
    expect(model.calls).toHaveLength(1);
  });

  it("goes with a rotation into the new session, with and without text, and a retry neither rotates nor answers again", async () => {
    const { model, harness } = await open();
    await harness.send("hello");
    for (const command of ["/new look", "/new"]) {
      const content = [text(command), picture];
      const before = (await harness.chain()).sessions.length;
      const reply = await harness.send(content, { deliveryId: command });
      expect(reply).toMatchObject({ outcome: "answered", turn: 1 });
      const left = command === "/new" ? [shown] : [text("look"), shown];
      expect(usersIn(model)).toEqual([left]);
      const calls = model.calls.length;
      expect(await harness.send(content, { deliveryId: command })).toMatchObject({ repeated: true, turn: 1 });
      expect(model.calls).toHaveLength(calls);
      expect((await harness.chain()).sessions).toHaveLength(before + 1);
    }
  });

  it("goes with a rollover by time", async () => {
    const { model, harness } = await open();
    await harness.send("hello");
    harness.clock.advance(13 * 3_600_000);
    expect(await harness.send([picture])).toMatchObject({ outcome: "answered", turn: 1 });
    expect(usersIn(model)).toEqual([[shown]]);
  });

  it("is there after a crash before the model was asked", async () => {
    const { model, harness } = await open();
    await harness.send([text("look"), picture], { deliveryId: "d0" });
    const { sessionId } = latestOf(await harness.chain());
    await harness.crashBefore("callModel", { threadId: sessionId, deliveryId: "d1", text: "and this?" });
    await harness.send([text("and this?"), picture], { deliveryId: "d2" });
    expect(usersIn(model)).toEqual([
      [text("look"), shown],
      [text("and this?"), shown],
    ]);
  });

  it("is refused when it is too big or of another owner, and nothing of it is stored", async () => {
    const { harness } = await open({ config: { limits: { attachmentBytes: 100 } } });
    expect(await harness.send([picture])).toMatchObject({ envelope: { code: "message_too_large" } });
    const reference = {
      type: "image",
      mimeType: "image/png",
      fileId: `lily:sha256:${stored.sha256}`,
      metadata: { bytes: 1 },
    };
    expect(await harness.send([text("look"), reference])).toMatchObject({
      envelope: { code: "message_invalid" },
    });
    expect(await harness.storage.store.search(blobNamespace(OWNER))).toEqual([]);
    expect(await harness.send("hi")).toMatchObject({ outcome: "answered", turn: 1 });
  });

  it("counts for search, title and budget by its text alone", async () => {
    const { harness } = await open();
    await harness.send([text("my desk is oak"), picture]);
    const chain = await harness.chain();
    const found = await harness.sessions.repository.searchTurns(chain, "oak", 5);
    expect(found).toHaveLength(1);
    expect(await harness.sessions.repository.searchTurns(chain, "base64", 5)).toEqual([]);
    expect(await harness.sessions.repository.searchTurns(chain, "png", 5)).toEqual([]);
    const [turn] = await turnsOfLatest(harness);
    expect(turn?.explanation.calls?.[0]?.tokens["message"]).toBeLessThan(1_100);
  });

  it("is answered in words where no model is configured", async () => {
    harness = await createHarness();
    expect((await harness.send([picture])).envelope.ok).toBe(true);
    expect((await harness.send([text("what is 2 + 2?"), picture])).envelope.ok).toBe(true);
  });
});

describe("a damaged conversation", () => {
  it("is sent without blank text and with arguments that a provider takes", async () => {
    const model = new ScriptedChatModel([
      { text: " \n", toolCalls: [{ id: "c1", name: "session_recall", args: '{"query": "x' }] },
      "one",
      "two",
    ]);
    const { harness } = await open({ model });
    await harness.send("first\ud800");
    await harness.restart();
    expect(await harness.send("second")).toMatchObject({ outcome: "answered", envelope: { message: "two" } });
    const asked = model.calls.at(-1)?.messages.find(({ type }) => type === "ai");
    expect(asked).toMatchObject({ content: "", toolCalls: [{ id: "c1", args: {} }] });
  });
});
