/** What `config.json` says of tools that are not Lily's own. */
import { z } from "zod";
import { LilyError } from "#src/kernel/errors.ts";
import { toolRulesSchema } from "./policy.ts";

const texts = z.record(z.string(), z.string());
const shared = { disabled: z.boolean().optional() };

const stdioSchema = z.object({
  ...shared,
  type: z.literal("stdio").optional(),
  command: z.string().min(1),
  args: z.array(z.string()).default([]),
  env: texts.default({}),
  cwd: z.string().min(1).optional(),
});

const httpSchema = z.object({
  ...shared,
  /** `sse`: the older transport, which servers of before 2025 speak. */
  type: z.enum(["http", "streamable-http", "sse"]).default("http"),
  url: z.string().min(1),
  headers: texts.default({}),
});

/** One MCP server, in the form that other programs use; what only they know is passed over. */
const mcpServerSchema = z.union([stdioSchema, httpSchema], {
  error: 'needs "command" for a program, or "url" for a server on the web',
});

/** How a server is reached. */
export type McpServerSettings = z.infer<typeof mcpServerSchema>;

/** `mcpServers` of `config.json`. */
export const mcpServersSchema = z.record(z.string().min(1).max(64), mcpServerSchema).default({});

/** `tools` of `config.json`. */
export const toolSettingsSchema = z
  .strictObject({
    /** `allow`, `ask` or `deny` by the name of a tool, `server/*`, or `*`. By default what changes something is asked about. */
    policy: toolRulesSchema.default({}),
    files: z
      .strictObject({
        /** Folders that models may read in: absolute, from `~/`, or from where Lily was started. */
        folders: z.array(z.string().min(1)).default([]),
      })
      .prefault({}),
    /** Models may fetch public web addresses as text. */
    fetch: z.boolean().default(false),
    /** Longest wait until an MCP server has begun and told its tools. */
    connectMs: z.int().min(100).max(120_000).default(10_000),
    /** Longest call of a tool of an MCP server. */
    callMs: z.int().min(100).max(3_600_000).default(60_000),
  })
  .prefault({});

/** Settings of tools. */
export type ToolSettings = z.infer<typeof toolSettingsSchema>;

/**
 * The settings with the values of variables in place of `${NAME}` and `${NAME:-otherwise}`, so that no secret stands in the file.
 *
 * @throws {LilyError} `config_invalid`, naming a variable that is not set
 */
export function withVariables(
  settings: McpServerSettings,
  env: Readonly<Record<string, string | undefined>>,
): McpServerSettings {
  const fill = (text: string): string =>
    text.replaceAll(/\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/gu, (_all, name: string, otherwise?: string) => {
      const value = env[name] ?? otherwise;
      if (value !== undefined) return value;
      throw new LilyError("config_invalid", `the variable ${name} is not set`, { next: `Set ${name}.` });
    });
  const filled: unknown = JSON.parse(JSON.stringify(settings), (_key, value: unknown) =>
    typeof value === "string" ? fill(value) : value,
  );
  return mcpServerSchema.parse(filled);
}
