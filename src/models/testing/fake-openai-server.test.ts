import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { startFakeOpenAIServer, type FakeOpenAIServer } from "./fake-openai-server.ts";

let server: FakeOpenAIServer;
beforeEach(async () => {
  server = await startFakeOpenAIServer();
});
afterEach(() => server.close());

async function post(body: object): Promise<Response> {
  return fetch(`${server.baseURL}/chat/completions`, {
    method: "POST",
    body: JSON.stringify({ model: "m", ...body }),
  });
}

describe("the fake server", () => {
  it("lists its models", async () => {
    expect(await (await fetch(`${server.baseURL}/models`)).json()).toMatchObject({
      data: [{ id: "fake-model" }],
    });
  });

  it("answers whole when no stream is asked for", async () => {
    server.enqueue({ kind: "toolCalls", calls: [{ id: "c", name: "t", arguments: "{}" }] });
    expect(await (await post({})).json()).toMatchObject({
      model: "m",
      choices: [{ message: { tool_calls: [{ id: "c" }] }, finish_reason: "tool_calls" }],
      usage: { total_tokens: 10 },
    });
  });

  it("streams frames, with usage when it is asked for, up to [DONE]", async () => {
    server.always({ kind: "text", chunks: ["a", "b"] });
    const plain = await (await post({ stream: true })).text();
    const told = await (await post({ stream: true, stream_options: { include_usage: true } })).text();
    expect(plain.trim().split("\n\n").at(-1)).toBe("data: [DONE]");
    expect(plain).not.toContain("usage");
    expect(told).toContain('"total_tokens":10');
  });

  it("takes behaviours in order, then the one for always", async () => {
    server.enqueue(
      { kind: "status", status: 429, headers: { "retry-after": "1" } },
      { kind: "status", status: 529 },
    );
    const responses = [await post({}), await post({}), await post({})];
    expect(responses.map((response) => response.status)).toEqual([429, 529, 200]);
    expect(responses[0]?.headers.get("retry-after")).toBe("1");
    expect(server.requests).toHaveLength(3);
  });

  it("closes while a request hangs", async () => {
    server.enqueue({ kind: "hang" });
    const hanging = post({}).catch(() => "hung up");
    await expect.poll(() => server.requests.length).toBe(1);
    await server.close();
    expect(await hanging).toBe("hung up");
  });
});
