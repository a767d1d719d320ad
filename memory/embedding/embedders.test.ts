import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import {
  createEmbedder,
  createOpenAIEmbedder,
  createUseLiteEmbedder,
  embedderReference,
  type OpenAIEmbedderSettings,
} from "./embedders.ts";

describe("embedderReference", () => {
  it.each([
    ["none", "none"],
    [" None ", "none"],
    ["openai:text-embedding-3-small", "openai:text-embedding-3-small"],
    ["OpenAI: nomic-embed-text:v1.5", "openai:nomic-embed-text:v1.5"],
    ["local:USE-Lite", "local:use-lite"],
  ])("reads %j as %j, which reads back as the same", (text, reference) => {
    expect(embedderReference(text)).toBe(reference);
    expect(embedderReference(reference)).toBe(reference);
  });

  it.each([
    "",
    "openai",
    "openai:",
    "none:x",
    "local:",
    "local:bert",
    "cohere:x",
    "a\u0000b",
    `openai:${"x".repeat(200)}`,
  ])("refuses %j and says what can be written", (text) => {
    expect(() => embedderReference(text)).toThrow(
      expect.objectContaining({
        code: "model_unknown",
        next: expect.stringContaining("openai:<model>") as unknown,
      }),
    );
  });
});

describe("createEmbedder", () => {
  const server = { baseURL: "http://127.0.0.1:9/v1" };

  it.each([
    ["none", undefined],
    ["openai:nomic", "openai:nomic"],
    ["local:use-lite", "local:use-lite"],
  ])("makes of %j the embedder %j, without asking or loading anything", (reference, model) => {
    expect(createEmbedder(reference, server)?.model).toBe(model);
  });

  it("wants a server for openai", () => {
    expect(() => createEmbedder("openai:x", {})).toThrow(expect.objectContaining({ code: "config_invalid" }));
  });
});

interface SeenRequest {
  readonly url: string | undefined;
  readonly authorization: string | undefined;
  readonly body: { readonly model: string; readonly input: string[]; readonly [field: string]: unknown };
}

/** A server that answers the first requests with `statuses`, and `"silent"` never; then with vectors. */
async function startServer(statuses: readonly (number | "silent")[] = []) {
  const seen: SeenRequest[] = [];
  const read = async (request: IncomingMessage): Promise<SeenRequest> => ({
    url: request.url,
    authorization: request.headers.authorization,
    body: JSON.parse(await readText(request)) as SeenRequest["body"],
  });
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const one = await read(request);
    const status = statuses[seen.length] ?? 200;
    seen.push(one);
    if (status === "silent") return;
    const { input, model } = one.body;
    const data = input.map((text, index) => ({ object: "embedding", index, embedding: [text.length, 1] }));
    const refusal = { error: { message: `not ${input[0]}` } };
    response.writeHead(status, { "content-type": "application/json" });
    response.end(JSON.stringify(status === 200 ? { object: "list", data, model } : refusal));
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const embedder = (settings: OpenAIEmbedderSettings = {}) =>
    createOpenAIEmbedder("some-model", { baseURL, ...settings });
  return { seen, embedder };
}

describe("createOpenAIEmbedder", () => {
  it("asks a compatible server for plain numbers, with a placeholder for a key", async () => {
    const { seen, embedder } = await startServer();
    expect(await embedder().embed(["one", "three"])).toEqual([
      [3, 1],
      [5, 1],
    ]);
    expect(seen).toEqual([
      {
        url: "/v1/embeddings",
        authorization: "Bearer not-needed",
        body: { model: "some-model", input: ["one", "three"], encoding_format: "float" },
      },
    ]);
  });

  it("sends the key and the wanted length, which is part of the name", async () => {
    const { seen, embedder } = await startServer();
    const shortened = embedder({ apiKey: "key-1", dimensions: 256 });
    await shortened.embed(["a"]);
    expect(seen[0]).toMatchObject({ authorization: "Bearer key-1", body: { dimensions: 256 } });
    expect([shortened.model, embedder().model]).toEqual(["openai:some-model/256", "openai:some-model"]);
  });

  it.each([500, 401])("fails by the status %i, without repeating the text that was sent", async (status) => {
    const { seen, embedder } = await startServer([status]);
    const failure = embedder().embed(["a private text"]);
    await expect(failure).rejects.toMatchObject({
      code: "embedding_failed",
      message: expect.stringContaining(String(status)) as unknown,
    });
    await expect(failure).rejects.not.toMatchObject({
      message: expect.stringContaining("private") as unknown,
    });
    expect(seen).toHaveLength(1);
  });

  it("gives up on a server that is silent, after the timeout", async () => {
    const { embedder } = await startServer(["silent"]);
    await expect(embedder({ timeoutMs: 30 }).embed(["a"])).rejects.toMatchObject({
      code: "embedding_failed",
      message: expect.stringContaining("no answer") as unknown,
    });
  });
});

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
