import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import { createOpenAIEmbedder, type OpenAIEmbedderSettings } from "./openai-embedder.ts";

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
