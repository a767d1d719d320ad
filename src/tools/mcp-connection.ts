/** One connection to an MCP server: begun, asked for its tools, called and closed, each within a time limit. */
import type { DynamicStructuredTool } from "@langchain/core/tools";
import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import type { FetchLike } from "@modelcontextprotocol/sdk/shared/transport.js";
import { errorMessage } from "#src/kernel/errors.ts";
import { orAborted } from "#src/kernel/clock.ts";
import { outputOf } from "./mcp-output.ts";
import type { McpServerSettings } from "./tool-settings.ts";

/** What a connection is made with. */
export interface McpConnectionOptions {
  readonly connectMs: number;
  readonly callMs: number;
  /** Where programs are started. */
  readonly cwd: string;
  /** Told when the server has ended by itself. */
  readonly onClosed: () => void;
  /** Told when the server says that its tools are others now. */
  readonly onChanged: () => void;
  /** Told of the process that was begun, so that it can be ended in any case; what it gives is called when it has ended. */
  readonly onProcess: (pid: number) => () => void;
}

/** Longest message of a server over HTTP, in bytes: a picture or a file of 20 MB as base64. */
const MOST_BYTES = 32_000_000;

type Transport = StdioClientTransport | StreamableHTTPClientTransport | SSEClientTransport;

/** Longest wait for an answer that tells that a server is still there, and for a goodbye. */
const SHORT_MS = 2_000;

/** Characters of what a program says on its error output that are told when it fails. */
const SAID = 300;

/**
 * Connects, and asks for the tools.
 *
 * @throws an error whose message goes on behind the server's name: "did not answer within 10 s"
 */
export async function connectMcp(
  name: string,
  settings: McpServerSettings,
  options: McpConnectionOptions,
): Promise<McpConnection> {
  const [{ loadMcpTools }, { Client: SdkClient }, reached] = await Promise.all([
    import("@langchain/mcp-adapters"),
    import("@modelcontextprotocol/sdk/client/index.js"),
    transportOf(settings, options),
  ]);
  const client = new SdkClient(
    { name: "lily", version: "1" },
    { listChanged: { tools: { autoRefresh: false, onChanged: options.onChanged } } },
  );
  const load = (): Promise<DynamicStructuredTool[]> =>
    loadMcpTools(name, client, {
      throwOnLoadError: false,
      useStandardContentBlocks: true,
      outputHandling: "content",
    });
  const connection = new McpConnection({ ...reached, client, load }, options);
  await connection.begin();
  return connection;
}

interface Reached {
  readonly client: Client;
  readonly transport: Transport;
  /** The end of what its program has said on its error output. */
  readonly said: () => string;
  /** Aborts with the reason why the connection is of no use any more. */
  readonly over: AbortSignal;
  readonly load: () => Promise<DynamicStructuredTool[]>;
}

/** A connection to a server. */
export class McpConnection {
  readonly #to: Reached;
  readonly #options: McpConnectionOptions;
  #tools: ReadonlyMap<string, DynamicStructuredTool> = new Map();
  #forgetProcess: () => void = () => undefined;
  #isUp = false;

  constructor(to: Reached, options: McpConnectionOptions) {
    this.#to = to;
    this.#options = options;
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the SDK's client has no listeners
    to.client.onclose = () => {
      this.#forgetProcess();
      if (this.#isUp) options.onClosed();
      this.#isUp = false;
    };
  }

  /** The tools by the server's own names, as they were told last. */
  get tools(): ReadonlyMap<string, DynamicStructuredTool> {
    return this.#tools;
  }

  /** Connects. @throws {ServerFailure} */
  async begin(): Promise<void> {
    const { client, transport, said } = this.#to;
    const { connectMs, onProcess } = this.#options;
    try {
      // The SDK's own limit ends one request; a server can be slow in many.
      const connecting = client.connect(transport, { timeout: connectMs });
      if ("pid" in transport && transport.pid !== null) this.#forgetProcess = onProcess(transport.pid);
      await within(
        connectMs,
        connecting.then(() => this.#list()),
      );
      this.#isUp = true;
    } catch (error) {
      const why = reasonOf(error, connectMs);
      // What does not end by itself is ended by force, for which no turn waits.
      throw new ServerFailure(said() === "" ? why : `${why}; it said: ${said()}`, this.close());
    }
  }

  /** Asks for the tools anew. @throws the reason why they were not told */
  async refresh(): Promise<void> {
    const { connectMs } = this.#options;
    await orAborted(within(connectMs, this.#list()), { signal: this.#to.over }).catch((error: unknown) => {
      throw new Error(reasonOf(error, connectMs), { cause: error });
    });
  }

  /** Calls a tool. @throws what the server says, or that it did not answer within the limit */
  async call(tool: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<unknown> {
    const { over } = this.#to;
    return callTool(this.#tools.get(tool), args, { signal, over, callMs: this.#options.callMs });
  }

  /** Whether the server still answers. */
  async isAlive(): Promise<boolean> {
    if (this.#to.over.aborted) return false;
    return this.#to.client.ping({ timeout: SHORT_MS }).then(
      () => true,
      () => false,
    );
  }

  /** Ends the process, or the session at the server. Never throws. */
  async close(): Promise<void> {
    const { client, transport } = this.#to;
    this.#isUp = false;
    if ("terminateSession" in transport)
      await within(SHORT_MS, transport.terminateSession()).catch(() => undefined);
    await client.close().catch(() => undefined);
    this.#forgetProcess();
  }

  async #list(): Promise<void> {
    this.#tools = new Map((await this.#to.load()).map((tool) => [tool.name, tool]));
  }
}

/** A server that could not be begun. */
export class ServerFailure extends Error {
  /** Resolves when what there was of it has ended. */
  readonly closing: Promise<void>;

  constructor(message: string, closing: Promise<void>) {
    super(message);
    this.closing = closing;
  }
}

const within = <T>(ms: number, work: Promise<T>): Promise<T> =>
  orAborted(work, { signal: AbortSignal.timeout(ms) });

async function callTool(
  tool: DynamicStructuredTool | undefined,
  args: Record<string, unknown>,
  on: { readonly signal: AbortSignal | undefined; readonly over: AbortSignal; readonly callMs: number },
): Promise<unknown> {
  if (tool === undefined) throw new Error("the server has no such tool any more");
  const { signal, over, callMs } = on;
  const limit = AbortSignal.timeout(callMs);
  const ends = AbortSignal.any([over, limit, ...(signal === undefined ? [] : [signal])]);
  try {
    // Above the limit, so that it is the limit that ends the call, and the server is told of it.
    const work = tool.invoke(args, { signal: ends, timeout: callMs + SHORT_MS });
    return outputOf(await orAborted(work, { signal: ends }));
  } catch (error) {
    if (signal?.aborted !== true && limit.aborted)
      throw new Error(`it did not answer within ${callMs / 1_000} s; it may or may not have taken effect`, {
        cause: error,
      });
    throw error;
  }
}

async function transportOf(
  settings: McpServerSettings,
  { cwd }: McpConnectionOptions,
): Promise<Pick<Reached, "transport" | "said" | "over">> {
  const over = new AbortController();
  if ("url" in settings) {
    const url = URL.parse(settings.url);
    if (url === null || !/^https?:$/u.test(url.protocol)) throw new Error("has an address that is none");
    const options = {
      requestInit: { headers: settings.headers },
      fetch: boundedFetch((why) => over.abort(why)),
    };
    const told = { said: () => "", over: over.signal };
    if (settings.type === "sse") {
      const { SSEClientTransport } = await import("@modelcontextprotocol/sdk/client/sse.js");
      return { transport: new SSEClientTransport(url, options), ...told };
    }
    const { StreamableHTTPClientTransport } =
      await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
    return { transport: new StreamableHTTPClientTransport(url, options), ...told };
  }
  const { StdioClientTransport } = await import("@modelcontextprotocol/sdk/client/stdio.js");
  const { command, args, env } = settings;
  const transport = new StdioClientTransport({
    command,
    args,
    env,
    cwd: settings.cwd ?? cwd,
    stderr: "pipe",
  });
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
    const bounded = response.body.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          // A blank line ends an event of a stream that may go on for days.
          bytes =
            isStream && /\r?\n\r?\n/u.test(Buffer.from(chunk).toString("latin1")) ? 0 : bytes + chunk.length;
          if (bytes <= MOST_BYTES) return controller.enqueue(chunk);
          const why = new Error(`it answered with more than ${MOST_BYTES / 1_000_000} MB`);
          onOver(why);
          controller.error(why);
        },
      }),
    );
    return new Response(bounded, response);
  };
}

function reasonOf(error: unknown, limitMs: number): string {
  if (error instanceof DOMException && error.name === "TimeoutError")
    return `did not answer within ${limitMs / 1_000} s`;
  return `failed: ${errorMessage(error).slice(0, SAID)}`;
}
