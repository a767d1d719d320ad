/** A local server that speaks OpenAI's chat completions API and misbehaves on demand. For tests without a network. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { completionBody, deltaFrame, eventFrame, streamFrames, type FakeAnswer } from "./fake-openai-wire.ts";

/** What the server does with one request. */
export type FakeBehaviour =
  | FakeAnswer
  /** Refuses with a status, as JSON `{ error }`. */
  | {
      readonly kind: "status";
      readonly status: number;
      readonly headers?: Record<string, string>;
      readonly error?: object;
    }
  /** Streams `chunks` and then ends: by tearing the connection down, or politely but without a finish. */
  | { readonly kind: "cut"; readonly chunks: readonly string[]; readonly by: "destroy" | "end" }
  /** Streams `chunks` and then a frame that is not JSON. */
  | { readonly kind: "malformed"; readonly chunks: readonly string[] }
  /** Streams `chunks` and then an error inside the stream. */
  | { readonly kind: "errorFrame"; readonly chunks: readonly string[]; readonly error: object }
  /** Streams `chunks` and then nothing. Without `chunks` not even headers come. */
  | { readonly kind: "hang"; readonly chunks?: readonly string[] }
  /** Streams `frames` as they are. */
  | { readonly kind: "frames"; readonly frames: readonly string[] }
  /** Answers with `body` as it is, of type `application/json` unless told otherwise. */
  | { readonly kind: "body"; readonly body: string; readonly status?: number; readonly type?: string };

/** What happens when the queue is empty: always the same, or what a request deserves. */
type FakeHabit = FakeBehaviour | ((body: FakeRequest["body"]) => FakeBehaviour | Promise<FakeBehaviour>);

/** A request that the server received. */
interface FakeRequest {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readonly<Record<string, unknown>>;
  /** Whether the client hung up before the answer was complete. */
  aborted: boolean;
}

/** A running fake server. */
export interface FakeOpenAIServer {
  /** What `OPENAI_BASE_URL` would be. */
  readonly baseURL: string;
  /** Chat completion requests, in order. */
  readonly requests: readonly FakeRequest[];
  /** Adds behaviours for the next requests, one each. */
  enqueue(...behaviours: readonly FakeBehaviour[]): void;
  /** What happens when the queue is empty; at first a text, "ok". */
  always(behaviour: FakeHabit): void;
  /** Ends all connections, hanging ones included. */
  close(): Promise<void>;
}

/** Starts a server on a free port of 127.0.0.1. */
export async function startFakeOpenAIServer(): Promise<FakeOpenAIServer> {
  const requests: FakeRequest[] = [];
  const queue: FakeBehaviour[] = [];
  let fallback: FakeHabit = { kind: "text", chunks: ["ok"] };
  const server = createServer((request, response) => {
    void answer(request, response, requests, (body) => {
      return queue.shift() ?? (typeof fallback === "function" ? fallback(body) : fallback);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseURL: `http://127.0.0.1:${port}/v1`,
    requests,
    enqueue: (...behaviours) => void queue.push(...behaviours),
    always: (behaviour) => void (fallback = behaviour),
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(
  request: IncomingMessage,
  response: ServerResponse,
  requests: FakeRequest[],
  nextBehaviour: (body: FakeRequest["body"]) => FakeBehaviour | Promise<FakeBehaviour>,
): Promise<void> {
  const body = await bodyOf(request);
  if (request.url === "/v1/models")
    return sendJson(response, 200, { object: "list", data: [{ id: "fake-model" }] });
  if (request.url !== "/v1/chat/completions")
    return sendJson(response, 404, { error: { message: "no such path" } });
  const received: FakeRequest = { path: request.url, headers: request.headers, body, aborted: false };
  requests.push(received);
  response.on("close", () => (received.aborted = !response.writableFinished));
  behave(await nextBehaviour(body), response, body);
}

async function bodyOf(request: IncomingMessage): Promise<Record<string, unknown>> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString("utf8");
  return text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
}

function behave(
  behaviour: FakeBehaviour,
  response: ServerResponse,
  body: Readonly<Record<string, unknown>>,
): void {
  const model = String(body["model"]);
  const openings =
    "chunks" in behaviour ? (behaviour.chunks ?? []).map((content) => deltaFrame({ content }, model)) : [];
  switch (behaviour.kind) {
    case "status":
      return sendJson(
        response,
        behaviour.status,
        { error: behaviour.error ?? { message: "planned failure" } },
        behaviour.headers,
      );
    case "body": {
      const type = behaviour.type ?? "application/json";
      response.writeHead(behaviour.status ?? 200, { "content-type": type }).end(behaviour.body);
      return;
    }
    case "hang":
      if (behaviour.chunks !== undefined) sendFrames(response, openings);
      return;
    case "cut":
      sendFrames(response, openings);
      return behaviour.by === "end" ? void response.end() : void setImmediate(() => response.destroy());
    case "malformed":
      return endFrames(response, [...openings, 'data: {"choices": [{"delta": {"content": "x\n\n']);
    case "errorFrame":
      return endFrames(response, [...openings, eventFrame({ error: behaviour.error })]);
    case "frames":
      return endFrames(response, behaviour.frames);
    case "text":
    case "toolCalls":
    case "refusal":
      if (body["stream"] !== true) return sendJson(response, 200, completionBody(behaviour, model));
      return endFrames(response, streamFrames(behaviour, model, { usage: asksForUsage(body) }));
  }
}

function asksForUsage(body: Readonly<Record<string, unknown>>): boolean {
  const options = body["stream_options"];
  return (
    typeof options === "object" &&
    options !== null &&
    "include_usage" in options &&
    options.include_usage === true
  );
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
}

function sendFrames(response: ServerResponse, frames: readonly string[]): void {
  response.writeHead(200, { "content-type": "text/event-stream" });
  response.flushHeaders();
  for (const frame of frames) response.write(frame);
}

function endFrames(response: ServerResponse, frames: readonly string[]): void {
  sendFrames(response, frames);
  response.end();
}
