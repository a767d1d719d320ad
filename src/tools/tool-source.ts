/** Where a tool comes from, and what is said of it: what a policy goes by and people are told. Tools carry it in `metadata`. */
import { z } from "zod";

const hint = z.boolean().optional().catch(undefined);

/** What MCP lets a server say of its tool. Hints: a server may say what is not so. */
const annotationsSchema = z.object({
  title: z.string().optional().catch(undefined),
  readOnlyHint: hint,
  destructiveHint: hint,
  idempotentHint: hint,
  openWorldHint: hint,
});

/** Hints about a tool, by MCP's names. */
export type ToolAnnotations = z.infer<typeof annotationsSchema>;

const originSchema = z.object({
  /** Lily's own, built in and configured, of an MCP server, or given by the program that uses Lily as a library. */
  from: z.enum(["lily", "built-in", "server", "program"]),
  /** The MCP server's name in the configuration. */
  server: z.string().optional(),
  /** The tool's own name at its server, where models know it by another. */
  tool: z.string().optional(),
});

/** Where a tool comes from. */
export type ToolOrigin = z.infer<typeof originSchema>;

/** Origin and hints of a tool. */
export interface ToolSource extends ToolOrigin {
  readonly annotations: ToolAnnotations;
}

// LangChain's interface of a tool does not name `metadata`; what it makes has it.
const carrierSchema = z.object({ metadata: z.record(z.string(), z.unknown()).catch({}) });

/** The `metadata` of a tool from that source; `annotations` stand where LangChain's MCP adapters put them. */
export function sourceMetadata({ annotations, ...origin }: ToolSource): Record<string, unknown> {
  return { origin, annotations };
}

/** The source of a tool. One that says nothing was given by the program, without hints. Never throws. */
export function toolSource(tool: object): ToolSource {
  const { metadata } = carrierSchema.parse(tool);
  const origin = originSchema.safeParse(metadata["origin"]);
  const annotations = annotationsSchema.safeParse(metadata["annotations"]);
  return {
    ...(origin.success ? origin.data : { from: "program" as const }),
    annotations: annotations.success ? annotations.data : {},
  };
}

/** The `metadata` of Lily's own tools: `reads` alone, or they write to what Lily keeps itself. */
export const OWN_READS = sourceMetadata({ from: "lily", annotations: { readOnlyHint: true } });
export const OWN_WRITES = sourceMetadata({
  from: "lily",
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
});
