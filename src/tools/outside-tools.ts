/**
 * The tools that are not Lily's own: those of MCP servers, and what is built in and configured. One object a process: servers are
 * begun when their tools are first asked for, begun anew when they have ended, and ended with it.
 */
import { createHash } from "node:crypto";
import type { StructuredToolInterface } from "@langchain/core/tools";
import { toJsonSchema } from "@langchain/core/utils/json_schema";
import { z } from "zod";
import { errorMessage } from "#src/kernel/errors.ts";
import { connectMcp, ServerFailure, type McpConnection } from "./mcp-connection.ts";
import { toolSource } from "./tool-source.ts";
import { withVariables, type McpServerSettings, type ToolSettings } from "./tool-settings.ts";

/** What models are told of a tool, and where it is. */
export const describedToolSchema = z.object({
  /** By which models know it. */
  name: z.string(),
  description: z.string(),
  /** Of its arguments, as JSON Schema. */
  schema: z.record(z.string(), z.unknown()),
  /** Its name at its source. */
  tool: z.string(),
  annotations: z.record(z.string(), z.unknown()),
});

/** A tool as it is described. */
export type DescribedTool = z.infer<typeof describedToolSchema>;

/** The name of what is built in, among the names of servers. */
export const BUILT_IN = "built in";

/** Tools of one source, as they were told last. */
export interface ToolSourceState {
  /** The server's name in the configuration, or `built in`. */
  readonly name: string;
  /** `idle`: not begun by this process. */
  readonly state: "ready" | "idle" | "failed";
  readonly tools: readonly DescribedTool[];
  /** Why it failed, or which of its tools are left out; goes on behind the name. */
  readonly problems: readonly string[];
}

/** All of them. */
export interface OutsideTools {
  /** Every source as it was told last. Begins nothing. */
  known(): readonly ToolSourceState[];
  /**
   * Every source, begun where it is not; one that fails or hangs is told as `failed` within the time limit.
   *
   * @param options `isAsked`: a person wants to know, so what failed a moment ago is tried again
   */
  list(options?: { readonly isAsked?: boolean }): Promise<readonly ToolSourceState[]>;
  /** Calls a tool by its name at its source. @throws what models are told */
  call(
    at: { readonly source: string; readonly tool: string },
    args: Record<string, unknown>,
    signal?: AbortSignal,
  ): Promise<unknown>;
  /** Ends what was begun. Idempotent. */
  close(): Promise<void>;
}

/** What they are made of. */
export interface OutsideToolsOptions extends Pick<ToolSettings, "connectMs" | "callMs"> {
  readonly servers: Readonly<Record<string, McpServerSettings>>;
  readonly builtIn: readonly StructuredToolInterface[];
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Where programs are started. */
  readonly cwd: string;
  /** Milliseconds that only go on. */
  readonly monotonic: () => number;
}

/** Makes them; `undefined` where nothing is configured. */
export function createOutsideTools(options: OutsideToolsOptions): OutsideTools | undefined {
  const servers = Object.entries(options.servers)
    .filter(([, { disabled }]) => disabled !== true)
    .map(([name, settings]) => new McpServer(name, settings, options));
  const { builtIn } = options;
  if (servers.length + builtIn.length === 0) return undefined;
  const ofLily: ToolSourceState[] =
    builtIn.length === 0 ? [] : [{ name: BUILT_IN, state: "ready", ...describe(builtIn, (name) => name) }];
  const known = (): ToolSourceState[] => [...ofLily, ...servers.map((server) => server.state())];
  return {
    known,
    async list({ isAsked = false } = {}) {
      await Promise.all(servers.map((server) => server.look(isAsked)));
      return known();
    },
    async call({ source, tool }, args, signal) {
      const own = source === BUILT_IN ? builtIn.find(({ name }) => name === tool) : undefined;
      if (own !== undefined) return own.invoke(args, signal === undefined ? {} : { signal });
      const server = servers.find(({ name }) => name === source);
      if (server === undefined)
        throw new Error(`the tool is not there any more: ${source} is not configured`);
      return server.call(tool, args, signal);
    },
    close: async () => void (await Promise.all(servers.map((server) => server.close()))),
  };
}

/** A server that failed is left alone so long, unless a person asks. */
const PAUSE_MS = 60_000;

/** One MCP server. */
class McpServer {
  readonly name: string;
  readonly #settings: McpServerSettings;
  readonly #options: OutsideToolsOptions;
  #connection: McpConnection | undefined;
  #connecting: Promise<McpConnection> | undefined;
  #failed: { readonly why: string; readonly at: number } | undefined;
  #described: Pick<ToolSourceState, "tools" | "problems"> = { tools: [], problems: [] };
  /** What ends, for which the end of the program waits. */
  readonly #closing = new Set<Promise<void>>();
  readonly #processes = new Set<number>();
  #isClosed = false;

  constructor(name: string, settings: McpServerSettings, options: OutsideToolsOptions) {
    this.name = name;
    this.#settings = settings;
    this.#options = options;
  }

  state(): ToolSourceState {
    const { name } = this;
    if (this.#failed !== undefined) return { name, state: "failed", tools: [], problems: [this.#failed.why] };
    return { name, state: this.#connection === undefined ? "idle" : "ready", ...this.#described };
  }

  /** Brings what is known up to date. Never throws: why it failed is kept. */
  async look(isAsked: boolean): Promise<void> {
    const { monotonic } = this.#options;
    if (!isAsked && this.#failed !== undefined && monotonic() < this.#failed.at + PAUSE_MS) return;
    try {
      const isNew = this.#connection === undefined;
      const connection = await this.#connected();
      // Few servers tell that their list has changed.
      if (!isNew) await this.#refresh(connection);
    } catch {
      // Kept by whatever failed.
    }
  }

  async call(tool: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<unknown> {
    const connection = await this.#connected().catch((error: unknown) => {
      throw new Error(`the server ${this.name} ${errorMessage(error)}`, { cause: error });
    });
    try {
      return await connection.call(tool, args, signal);
    } catch (error) {
      // One that does not answer any more is begun anew by the next call.
      if (signal?.aborted !== true && !(await connection.isAlive())) this.#leave(connection);
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#connecting?.catch(() => undefined);
    if (this.#connection !== undefined) this.#leave(this.#connection);
    await Promise.all(this.#closing);
    process.off("exit", this.#kill);
  }

  #connected(): Promise<McpConnection> {
    if (this.#isClosed) return Promise.reject(new Error("is ended with the program"));
    if (this.#connection !== undefined) return Promise.resolve(this.#connection);
    this.#connecting ??= this.#connect().finally(() => (this.#connecting = undefined));
    return this.#connecting;
  }

  async #connect(): Promise<McpConnection> {
    const { connectMs, callMs, cwd, env, monotonic } = this.#options;
    try {
      const connection = await connectMcp(this.name, withVariables(this.#settings, env), {
        connectMs,
        callMs,
        cwd,
        onClosed: () => (this.#connection = undefined),
        onChanged: () => {
          if (this.#connection !== undefined) void this.#refresh(this.#connection).catch(() => undefined);
        },
        onProcess: (pid) => {
          process.off("exit", this.#kill).on("exit", this.#kill);
          this.#processes.add(pid);
          return () => void this.#processes.delete(pid);
        },
      });
      this.#connection = connection;
      this.#failed = undefined;
      this.#describe(connection);
      return connection;
    } catch (error) {
      this.#failed = { why: errorMessage(error), at: monotonic() };
      if (error instanceof ServerFailure) this.#wait(error.closing);
      throw error;
    }
  }

  async #refresh(connection: McpConnection): Promise<void> {
    try {
      await connection.refresh();
      this.#describe(connection);
    } catch (error) {
      this.#leave(connection);
      this.#failed = { why: errorMessage(error), at: this.#options.monotonic() };
      throw error;
    }
  }

  #describe({ tools }: McpConnection): void {
    this.#described = describe([...tools.values()], (tool) => nameOf(this.name, tool));
  }

  #leave(connection: McpConnection): void {
    if (this.#connection === connection) this.#connection = undefined;
    this.#wait(connection.close());
  }

  #wait(closing: Promise<void>): void {
    const ended = closing.finally(() => this.#closing.delete(ended));
    this.#closing.add(ended);
  }

  /** The last resort: a program that ends without closing leaves no process behind. */
  readonly #kill = (): void => {
    for (const pid of this.#processes) {
      try {
        process.kill(pid, "SIGKILL");
      } catch {
        // It has ended.
      }
    }
  };
}

/** Tools of one server, and characters of what one says of itself; more would fill every prompt. */
const MOST_TOOLS = 128;
const MOST_CHARACTERS = 16_000;

/** Names that every model server takes. */
const NAME = /^[A-Za-z0-9_-]{1,64}$/u;

/** `server__tool`, made fit for models; one that is too long ends with a piece of its hash. */
function nameOf(server: string, tool: string): string {
  const name = `${server}__${tool}`.replaceAll(/[^A-Za-z0-9_-]/gu, "_");
  if (NAME.test(name)) return name;
  return `${name.slice(0, 55)}_${createHash("sha256").update(`${server}\n${tool}`).digest("hex").slice(0, 8)}`;
}

/** In the order of their names: a server that tells them in another order has not changed. */
function describe(
  tools: readonly StructuredToolInterface[],
  toName: (tool: string) => string,
): Pick<ToolSourceState, "tools" | "problems"> {
  const described = new Map<string, DescribedTool>();
  const problems: string[] = [];
  for (const tool of tools.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
    const name = toName(tool.name);
    const schema = z.record(z.string(), z.unknown()).safeParse(toJsonSchema(tool.schema));
    const one = { name, description: tool.description, schema: schema.data ?? {}, tool: tool.name };
    const { annotations } = toolSource(tool);
    const size = JSON.stringify(one).length;
    const shown = JSON.stringify(tool.name.slice(0, 80));
    if (described.has(name))
      problems.push(`has two tools that models would know as ${name}; ${shown} is left out`);
    else if (size > MOST_CHARACTERS)
      problems.push(`describes ${shown} in ${size} characters; at most ${MOST_CHARACTERS} are taken`);
    else if (described.size === MOST_TOOLS)
      problems.push(`has more than ${MOST_TOOLS} tools; ${shown} is left out`);
    else described.set(name, { ...one, annotations });
  }
  const more = problems.length - 10;
  return {
    tools: [...described.values()],
    problems: more > 0 ? [...problems.slice(0, 10), `and ${more} more`] : problems,
  };
}
