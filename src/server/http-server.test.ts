import { connect } from "node:net";
import { getConnInfo } from "@hono/node-server/conninfo";
import { afterEach, describe, expect, it } from "vitest";
import type { Sleep } from "#src/kernel/clock.ts";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import { turnReplySchema } from "#src/turns/turn-reply.ts";
import { startHttpServer, type HttpServer, type HttpServerOptions } from "./http-server.ts";
import { eventsIn, httpHarnessStarter, problemIn, type HttpHarness } from "./testing/http-harness.ts";

const start = httpHarnessStarter();
let servers: HttpServer[] = [];

afterEach(async () => {
  for (const server of servers) await server.drain();
  servers = [];
});

/** Never over by itself. */
const forever: Sleep = (_ms, signal) =>
  new Promise((_resolve, reject) =>
    signal?.addEventListener("abort", () => reject(new Error("not needed any more"))),
  );

async function listening(http: HttpHarness, options: Partial<HttpServerOptions> = {}): Promise<HttpServer> {
  const server = await startHttpServer({
    ...http.options,
    host: "127.0.0.1",
    port: 0,
    ...options,
  });
  servers.push(server);
  return server;
}

const HEADERS = { "content-type": "application/json", "x-test-owner": "local" };

const send = (server: HttpServer, content: string, headers: object = {}): Promise<Response> =>
  fetch(`${server.url}/lily/v1/keys/k/messages`, {
    method: "POST",
    headers: { ...HEADERS, ...headers },
    body: JSON.stringify({ content }),
  });

/** What the server answers to bytes that no HTTP client would send. */
function sendRaw(server: HttpServer, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1", () => socket.write(text, "latin1"));
    let answer = "";
    socket.setEncoding("utf8").on("data", (data: string) => (answer += data));
    socket.on("error", reject).on("close", () => resolve(answer));
  });
}

/** A model that answers when it is told to. */
function gatedModel() {
  let ask = (): void => undefined;
  let answer = (_text: string): void => undefined;
  const asked = new Promise<void>((resolve) => (ask = resolve));
  const model = new ScriptedChatModel(() => {
    ask();
    return new Promise<string>((resolve) => (answer = resolve));
  });
  return { model, asked, answer: (text: string) => answer(text) };
}

/** A model that says one word and no more until it is stopped. */
function halfModel() {
  let say = (): void => undefined;
  const said = new Promise<void>((resolve) => (say = resolve));
  let words = 0;
  const sleep: Sleep = async (ms, signal) => {
    words += 1;
    if (words === 1) return;
    say();
    await forever(ms, signal);
  };
  return { said, model: new ScriptedChatModel([{ chunks: ["partial", " never"], delayMs: 1 }], { sleep }) };
}

describe("a server on a port", () => {
  it("answers JSON and streams over a socket, and sees from where", async () => {
    const http = await start();
    const seen: (string | undefined)[] = [];
    const server = await listening(http, {
      authenticate: async (context) => {
        seen.push(getConnInfo(context).remote.address);
        return { owner: "local", id: "local" };
      },
    });
    const reply = turnReplySchema.parse(await (await send(server, "hello")).json());
    expect(reply).toMatchObject({ outcome: "answered", turn: 1 });
    const streamed = await send(server, "/new again", { accept: "text/event-stream" });
    const events = eventsIn(await streamed.text());
    expect(events.filter(({ event }) => event === "session")).toHaveLength(2);
    expect(events.at(-1)?.event).toBe("reply");
    expect(seen).toEqual(["127.0.0.1", "127.0.0.1"]);
  });

  it.each<[string, string, string]>([
    ["a key of dots", "/lily/v1/keys/../sessions", "request_invalid"],
    ["an encoded key of dots", "/lily/v1/keys/x/%2e%2e/k/sessions", "request_invalid"],
    ["a key with # that is not encoded", "/lily/v1/keys#x", "request_invalid"],
    ["a path elsewhere that leads here", "/x/../lily/v1/keys", "request_invalid"],
  ])("refuses %s, and reads no other one for it", async (_what, target, code) => {
    const http = await start();
    const server = await listening(http);
    const answer = await sendRaw(
      server,
      `GET ${target} HTTP/1.1\r\nHost: localhost\r\nx-test-owner: local\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toContain("HTTP/1.1 422");
    expect(answer).toContain(`"code":"${code}"`);
  });

  it.each<[string, string, number]>([
    ["a host that is none", "GET /lily/v1/health HTTP/1.1\r\nHost: a/b\r\nConnection: close\r\n\r\n", 400],
    ["a path that is longer than headers may be", `GET /${"a".repeat(20_000)} HTTP/1.1\r\n\r\n`, 431],
    ["bytes that are not encoded", "GET /lily/v1/keys/\u00e9/status HTTP/1.1\r\nHost: x\r\n\r\n", 400],
    ["bytes that are no HTTP", "hello\r\n\r\n", 400],
    ["a request that does not end in time", "POST /lily/v1/keys/k/messages HTTP/1.1\r\nHost: x\r\n", 408],
  ])("refuses %s by its status", async (_what, text, status) => {
    const times = { requestTimeout: 100, headersTimeout: 100, connectionsCheckingInterval: 100 };
    const server = await listening(await start(), { serverOptions: times });
    expect(await sendRaw(server, text)).toContain(`HTTP/1.1 ${status}`);
    expect((await send(server, "x")).status).toBe(200);
  });

  it("refuses a body that is too long and goes on", async () => {
    const server = await listening(await start({ limits: { bodyBytes: 1000 } }));
    const refused = await send(server, "x".repeat(500_000));
    expect((await problemIn(refused)).code).toBe("request_too_large");
    expect((await send(server, "x")).status).toBe(200);
  });

  it("says on which port it cannot listen", async () => {
    const http = await start();
    const { port } = new URL((await listening(http)).url);
    await expect(listening(http, { port: Number(port) })).rejects.toMatchObject({
      code: "config_invalid",
      message: expect.stringContaining(port),
    });
  });
});

describe("a server that ends", () => {
  it("waits for the turn that runs, whose reply arrives, and takes no new connection", async () => {
    const { model, asked, answer } = gatedModel();
    const server = await listening(await start({ lily: { model } }));
    const sending = send(server, "hello");
    await asked;
    const drained = server.drain();
    await expect(send(server, "too late")).rejects.toThrow();
    answer("in time");
    const reply = turnReplySchema.parse(await (await sending).json());
    expect(reply).toMatchObject({ status: "completed", envelope: { message: "in time" } });
    await drained;
  });

  it("stops a turn that takes too long, keeps what there is of its answer and tells it", async () => {
    const { model, said } = halfModel();
    const http = await start({ lily: { model } });
    const server = await listening(http, { drainMs: 10 });
    const sending = send(server, "hello", { accept: "text/event-stream" });
    await said;
    await server.drain();
    const events = eventsIn(await (await sending).text());
    expect(events.at(-1)).toMatchObject({ event: "reply", data: { status: "stopped", turn: 1 } });
    const { latest } = await http.lily.chain("k");
    const [turn] = await http.lily.turns(latest, "k");
    expect(turn?.messages.map(({ content }) => content)).toEqual(["hello", "partial"]);
  });

  it("ends though a turn does not, after the longest wait", async () => {
    const { model, asked } = gatedModel();
    const server = await listening(await start({ lily: { model } }), { drainMs: 10, stopMs: 10 });
    const sending = send(server, "hello").catch(() => "cut");
    await asked;
    await server.drain();
    await server.drain();
    await sending;
  });

  it("has an end also when nothing was ever asked", async () => {
    const server = await listening(await start());
    await server.drain();
    await expect(fetch(`${server.url}/lily/v1/health`)).rejects.toThrow();
  });
});
