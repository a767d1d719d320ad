import { describe, expect, it } from "vitest";
import { embedTexts } from "./embedder.ts";

const giving = (vectors: readonly (readonly number[])[]) => ({
  model: "fake",
  embed: () => Promise.resolve(vectors),
});

describe("embedTexts", () => {
  it("gives vectors of length 1, in the order of the texts", async () => {
    const vectors = await embedTexts(
      giving([
        [3, 4],
        [0, -2],
      ]),
      ["a", "b"],
    );
    expect(vectors.map((vector) => [...vector].map((component) => Number(component.toFixed(6))))).toEqual([
      [0.6, 0.8],
      [0, -1],
    ]);
  });

  it("asks nobody for no texts", async () => {
    const embed = () => Promise.reject(new Error("asked"));
    expect(await embedTexts({ model: "fake", embed }, [])).toEqual([]);
  });

  it.each([
    ["fewer vectors than texts", [[1, 2]]],
    [
      "vectors of different lengths",
      [
        [1, 2],
        [1, 2, 3],
      ],
    ],
    ["a vector without numbers", [[1, 2], []]],
    [
      "a vector without a direction",
      [
        [1, 2],
        [0, 0],
      ],
    ],
    [
      "infinities",
      [
        [1, 2],
        [Infinity, 1],
      ],
    ],
  ])("refuses %s", async (_what, vectors) => {
    await expect(embedTexts(giving(vectors), ["a", "b"])).rejects.toMatchObject({ code: "embedding_failed" });
  });

  it("names the embedder in what it throws, and keeps the cause", async () => {
    const cause = new Error("socket closed");
    const failing = { model: "openai:x", embed: () => Promise.reject(cause) };
    await expect(embedTexts(failing, ["a"])).rejects.toMatchObject({
      code: "embedding_failed",
      message: expect.stringContaining("openai:x") as unknown,
      cause,
    });
  });
});
