/** One MCP server: begun when its tools are first asked for, begun anew when it has ended, ended with the program; each step within a time limit. */
import type { DynamicStructuredTool } from "@langchain/core/tools";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import type { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js";
import { z } from "zod";
import { errorMessage } from "#src/kernel/errors.ts";
import { orAborted, timeLimit } from "#src/kernel/clock.ts";
import { withVariables, type McpServerSettings, type ToolSettings } from "./tool-settings.ts";

/** What servers are reached with. */
export interface McpServerOptions extends Pick<ToolSettings, "connectMs" | "callMs"> {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where programs are started. */
  readonly cwd: string;
  /** Milliseconds that only go on. */
  readonly monotonic: () => number;
}

type Transport = StdioClientTransport | StreamableHTTPClientTransport | SSEClientTransport;

interface Connection {
  readonly client: Client;
  readonly transport: Transport;
  /** The end of what its program has said on its error output. */
  readonly said: () => string;
  /** Aborts with the reason why the connection is of no use any more. */
  readonly over: AbortSignal;
}

/** A server that failed is left alone so long, unless a person asks. */
const PAUSE_MS = 60_000;

/** Longest wait for an answer that tells that a server is still there, and for a goodbye. */
const SHORT_MS = 2_000;

/** Longest message of a server over HTTP, in bytes: a picture or a file of 20 MB as base64. */
const MOST_BYTES = 32_000_000;

/** Characters of an error, and of what a program says on its error output, that are told. */
const SAID = 300;

/** A server of the configuration. */
export class McpServer {
  readonly name: string;
  readonly #settings: McpServerSettings;
  readonly #options: McpServerOptions;
  #connection: Connection | undefined;
  #connecting: Promise<Connection> | undefined;
  #failed: { readonly why: string; readonly at: number } | undefined;
  #tools: readonly DynamicStructuredTool[] = [];
  /** What ends, for which the end of the program waits. */
  readonly #closing = new Set<Promise<void>>();
  #isClosed = false;

  constructor(name: string, settings: McpServerSettings, options: McpServerOptions) {
    this.name = name;
    this.#settings = settings;
    this.#options = options;
  }

  /** Why it failed; goes on behind the name. */
  get failure(): string | undefined {
    return this.#failed?.why;
  }

  get isBegun(): boolean {
    return this.#connection !== undefined;
  }

  /** The tools by the server's own names, as they were told last. */
  get tools(): readonly DynamicStructuredTool[] {
    return this.#tools;
  }

  /** Brings what is known up to date; begins it where it is not. Never throws: why it failed is kept. */
  async look(isAsked: boolean): Promise<void> {
    if (!isAsked && this.#failed !== undefined && this.#now() < this.#failed.at + PAUSE_MS) return;
    const known = this.#connection;
    // Few servers tell that their list has changed.
    const looked = known === undefined ? this.#connected() : this.#kept(this.#list(known));
    await looked.catch(() => undefined);
  }

  /** Calls a tool by the server's own name. @throws what models are told */
  async call(name: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<unknown> {
    const connection = await this.#connected().catch((error: unknown) => {
      throw new Error(`the server ${this.name} ${errorMessage(error)}`, { cause: error });
    });
    const { callMs } = this.#options;
    const limit = timeLimit(callMs);
    const ends = AbortSignal.any([connection.over, limit, ...(signal === undefined ? [] : [signal])]);
    try {
      const tool = this.#tools.find((one) => one.name === name);
      if (tool === undefined) throw new Error("the server has no such tool any more");
      // Above the limit, so that it is the limit that ends the call, and the server is told of it.
      const work = tool.invoke(args, { signal: ends, timeout: callMs + SHORT_MS });
      return outputOf(await orAborted(work, { signal: ends }));
    } catch (error) {
      if (signal?.aborted === true) throw error;
      // One that does not answer any more is begun anew by the next call.
      if (!(await isAlive(connection))) this.#leave(connection);
      if (!limit.aborted) throw error;
      const why = `it did not answer within ${callMs / 1_000} s; it may or may not have taken effect`;
      throw new Error(why, { cause: error });
    }
  }

  /** Ends it for good. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#connecting?.catch(() => undefined);
    if (this.#connection !== undefined) this.#leave(this.#connection);
    await Promise.all(this.#closing);
  }

  #now(): number {
    return this.#options.monotonic();
  }

  #connected(): Promise<Connection> {
    if (this.#isClosed) return Promise.reject(new Error("is ended with the program"));
    if (this.#connection !== undefined) return Promise.resolve(this.#connection);
    this.#connecting ??= this.#kept(this.#begin()).finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }

  /** Keeps whether it failed, and why. */
  async #kept<T>(work: Promise<T>): Promise<T> {
    try {
      const done = await work;
      this.#failed = undefined;
      return done;
    } catch (error) {
      this.#failed = { why: errorMessage(error), at: this.#now() };
      throw error;
    }
  }

  async #begin(): Promise<Connection> {
    const { connectMs, cwd, env } = this.#options;
    const [{ Client: SdkClient }, reached] = await Promise.all([
      import("@modelcontextprotocol/sdk/client/index.js"),
      reach(withVariables(this.#settings, env), cwd),
    ]);
    const onChanged = (): void => {
      if (this.#connection === connection) void this.#kept(this.#list(connection)).catch(() => undefined);
    };
    const listChanged = { tools: { autoRefresh: false, onChanged } };
    const connection = { ...reached, client: new SdkClient({ name: "lily", version: "1" }, { listChanged }) };
    const { client, transport } = connection;
    // The SDK's own limit ends one request; a server can be slow in many.
    const begun = client.connect(transport, { timeout: connectMs });
    const stopWatching = killAtExit(transport);
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's client has no listeners
    client.onclose = () => {
      stopWatching();
      if (this.#connection === connection) this.#connection = undefined;
    };
    await this.#list(connection, begun);
    return (this.#connection = connection);
  }

  /** Asks for the tools, once a connection stands. @throws why it is of no use, and was left */
  async #list(connection: Connection, begun: Promise<void> = Promise.resolve()): Promise<void> {
    const { connectMs } = this.#options;
    const signal = AbortSignal.any([connection.over, timeLimit(connectMs)]);
    try {
      const listed = Promise.all([import("@langchain/mcp-adapters"), begun]).then(([{ loadMcpTools }]) =>
        loadMcpTools(this.name, connection.client, {
          throwOnLoadError: false,
          useStandardContentBlocks: true,
          outputHandling: "content",
        }),
      );
      this.#tools = await orAborted(listed, { signal });
    } catch (error) {
      // What does not end by itself is ended by force, for which no turn waits.
      this.#leave(connection);
      const isLate = error instanceof DOMException && error.name === "TimeoutError";
      const why = isLate
        ? `did not answer within ${connectMs / 1_000} s`
        : `failed: ${errorMessage(error).slice(0, SAID)}`;
      const said = connection.said();
      throw new Error(said === "" ? why : `${why}; it said: ${said}`, { cause: error });
    }
  }

  #leave(connection: Connection): void {
    if (this.#connection === connection) this.#connection = undefined;
    const ended = close(connection).finally(() => this.#closing.delete(ended));
    this.#closing.add(ended);
  }
}

async function isAlive({ client, over }: Connection): Promise<boolean> {
  if (over.aborted) return false;
  return client.ping({ timeout: SHORT_MS }).then(
    () => true,
    () => false,
  );
}

/** Ends the process, or the session at the server. Never throws. */
async function close({ client, transport }: Connection): Promise<void> {
  if ("terminateSession" in transport) {
    const goodbye = orAborted(transport.terminateSession(), { signal: timeLimit(SHORT_MS) });
    await goodbye.catch(() => undefined);
  }
  await client.close().catch(() => undefined);
}

/** The last resort: a program that ends without closing leaves no process behind. Gives what takes that back. */
function killAtExit(transport: Transport): () => void {
  const pid = "pid" in transport ? transport.pid : null;
  const kill = (): void => {
    try {
      if (pid !== null) process.kill(pid, "SIGKILL");
    } catch {
      // It has ended.
    }
  };
  process.on("exit", kill);
  return () => void process.off("exit", kill);
}

/** How a server is reached; it is not begun yet. */
async function reach(settings: McpServerSettings, cwd: string): Promise<Omit<Connection, "client">> {
  const over = new AbortController();
  if ("url" in settings) {
    const url = URL.parse(settings.url);
    if (url === null || !/^https?:$/u.test(url.protocol)) throw new Error("has an address that is none");
    const options = {
      requestInit: { headers: settings.headers },
      fetch: boundedFetch((why) => over.abort(why)),
    };
    const sdk =
      settings.type === "sse"
        ? (await import("@modelcontextprotocol/sdk/client/sse.js")).SSEClientTransport
        : (await import("@modelcontextprotocol/sdk/client/streamableHttp.js")).StreamableHTTPClientTransport;
    return { transport: new sdk(url, options), said: () => "", over: over.signal };
  }
  const { StdioClientTransport: Program } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const { command, args, env } = settings;
  const transport = new Program({ command, args, env, cwd: settings.cwd ?? cwd, stderr: "pipe" });
  let said = "";
  transport.stderr?.on("data", (chunk: Buffer) => {
    said = (said + chunk.toString("utf8")).slice(-4_000);
  });
  return { transport, said: () => said.trim().slice(-SAID).trim(), over: over.signal };
}

/** `fetch`, whose answers break off at a message that is too big. */
function boundedFetch(onOver: (why: Error) => void): FetchLike {
  return async (url, init) => {
    const response = await fetch(url, init);
    const isRedirect = response.status >= 300 && response.status < 400;
    if (response.body === null || isRedirect) return response;
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
    let bytes = 0;
    const bound = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        // A blank line ends an event of a stream that may go on for days.
        const isEnd = isStream && /\r?\n\r?\n/u.test(Buffer.from(chunk).toString("latin1"));
        bytes = isEnd ? 0 : bytes + chunk.length;
        if (bytes <= MOST_BYTES) return controller.enqueue(chunk);
        const why = new Error(`it answered with more than ${MOST_BYTES / 1_000_000} MB`);
        onOver(why);
        controller.error(why);
      },
    });
    return new Response(response.body.pipeThrough(bound), response);
  };
}

const blocksSchema = z.array(
  z.looseObject({
    type: z.string(),
    text: z.string().optional(),
    url: z.string().optional(),
    data: z.string().optional(),
    mime_type: z.string().optional(),
  }),
);

/** What a tool gave, as a turn reads it: a text, or blocks of text and of pictures, recordings and files as base64. Never throws. */
function outputOf(output: unknown): unknown {
  const blocks = blocksSchema.safeParse(output).data;
  if (blocks === undefined) return output;
  if (blocks.length === 0) return "";
  return blocks.map(({ type, text, url, data, mime_type: given }) => {
    if (text !== undefined) return { type: "text", text };
    if (url !== undefined) return { type: "text", text: `[a resource at ${url}]` };
    if (data === undefined || data === "") return { type: "text", text: `[an empty part of type ${type}]` };
    const mimeType = given?.split(";")[0]?.trim().toLowerCase() ?? "";
    const isKnown = /^[a-z0-9.+-]+\/[a-z0-9.+-]+$/u.test(mimeType);
    const isAsSaid = isKnown && /^(?:image|audio)$/u.test(type) && mimeType.startsWith(`${type}/`);
    return {
      type: isAsSaid ? type : "file",
      // Servers leave padding out, or break lines; what is no base64 at all comes to other bytes, which are kept.
      data: Buffer.from(data, "base64").toString("base64"),
      mime_type: isKnown ? mimeType : "application/octet-stream",
    };
  });
}
