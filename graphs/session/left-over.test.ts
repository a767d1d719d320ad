/** What a rotation leaves of a message, with what it carries: known again when it comes again, by itself or as it was sent. */
import { describe, expect, it } from "vitest";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();

const pictureOf = (fill: number) => ({
  type: "image_url",
  image_url: { url: `data:image/png;base64,${Buffer.alloc(200, fill).toString("base64")}` },
});
const PICTURE = pictureOf(1);
const OTHER = pictureOf(2);
const text = (value: string) => ({ type: "text", text: value });

/** A conversation that was rotated by delivery `d`, whose rest could not be answered. */
async function rotated(content: unknown) {
  const model = new ScriptedChatModel((_messages, index) =>
    index === 1 ? { text: "half", error: new Error("down") } : "seen",
  );
  const lily = await start({ model });
  await lily.send("hello");
  expect(await lily.send(content, { deliveryId: "d" })).toMatchObject({ outcome: "failed" });
  return lily;
}

describe.each([
  ["a text and a picture", [text("/new look"), PICTURE], [text("look"), PICTURE], [text("look"), OTHER]],
  ["a picture alone", [text("/new"), PICTURE], [PICTURE], [OTHER]],
])("what is left of a rotation, %s,", (_what, asSent, left, other) => {
  it.each([
    ["by itself", left],
    ["as it was sent", asSent],
  ])("is answered when it comes again %s, and then from what is stored", async (_how, content) => {
    const lily = await rotated(asSent);
    const answered = await lily.send(content, { deliveryId: "d" });
    expect(answered).toMatchObject({ outcome: "answered", turn: 1, repeated: false });
    expect(await lily.send(content, { deliveryId: "d" })).toMatchObject({ turn: 1, repeated: true });
    expect((await lily.chain()).sessions).toHaveLength(2);
  });

  it("is not taken for a message with another picture under the same id", async () => {
    const lily = await rotated(asSent);
    const refused = await lily.send(other, { deliveryId: "d" });
    expect(refused).toMatchObject({ outcome: "refused", envelope: { code: "delivery_conflict" } });
  });
});
