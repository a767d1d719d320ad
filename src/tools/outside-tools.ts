/**
 * The tools that are not Lily's own: those of MCP servers, and what is built in and configured. One object a process: servers are
 * begun when their tools are first asked for, begun anew when they have ended, and ended with it.
 */
import { createHash } from "node:crypto";
import type { StructuredToolInterface } from "@langchain/core/tools";
import { toJsonSchema } from "@langchain/core/utils/json_schema";
import { z } from "zod";
import { McpServer, type McpServerOptions } from "./mcp-server.ts";
import type { McpServerSettings } from "./tool-settings.ts";
import { toolSource } from "./policy.ts";

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
export interface OutsideToolsOptions extends McpServerOptions {
  readonly servers: Readonly<Record<string, McpServerSettings>>;
  readonly builtIn: readonly StructuredToolInterface[];
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
  const known = (): ToolSourceState[] => [...ofLily, ...servers.map(stateOf)];
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

function stateOf({ name, failure, isBegun, tools }: McpServer): ToolSourceState {
  if (failure !== undefined) return { name, state: "failed", tools: [], problems: [failure] };
  return { name, state: isBegun ? "ready" : "idle", ...describe(tools, (tool) => nameOf(name, tool)) };
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
