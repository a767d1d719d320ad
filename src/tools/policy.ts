/** Where a tool comes from and what is said of it; and by that and the rules, what may be done with it: run it, ask a person first, or neither. */
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

/** Schema of {@link ToolRule}; the strictest last. */
const ruleSchema = z.enum(["allow", "ask", "deny"]);

/** `ask`: a person decides on each call. `deny`: the model is told that it may not. */
export type ToolRule = z.infer<typeof ruleSchema>;

/** Rules by the name of a tool as models know it, by `server/tool`, `server/*`, or `*` for all. */
export const toolRulesSchema = z.record(z.string().min(1), ruleSchema);

/** Rules by name. */
export type ToolRules = z.infer<typeof toolRulesSchema>;

/** Schema of {@link ToolPolicy}. */
export const toolPolicySchema = z.object({
  agents: z.record(z.string(), toolRulesSchema),
  all: z.array(toolRulesSchema),
});

/** Rules of agents, and those of all agents, which come after them. */
export type ToolPolicy = z.infer<typeof toolPolicySchema>;

/** Without a rule of anybody. */
export const NO_POLICY: ToolPolicy = { agents: {}, all: [] };

/** Whose rules hold in a session: those that it began with, and those of now. */
export interface HeldPolicy {
  readonly agent: string;
  readonly frozen: ToolPolicy;
  readonly now: ToolPolicy;
}

/** Whether a call may change something beyond Lily. A server's tool that says nothing of it may; a program knows what it gives. */
export function changesSomething({ from, annotations }: ToolSource): boolean {
  const { readOnlyHint, destructiveHint } = annotations;
  if (from === "lily" || readOnlyHint === true) return false;
  return from !== "program" || readOnlyHint === false || destructiveHint === true;
}

type RuledTool = { readonly name: string; readonly source: ToolSource };

/** The rule of a tool in a session: a stricter one holds at once, a looser one when the session takes it over. */
export function heldRule({ agent, frozen, now }: HeldPolicy, tool: RuledTool): ToolRule {
  const rules = [frozen, now].map((policy) => toolRule(layersOf(policy, agent), tool));
  return ruleSchema.options.findLast((rule) => rules.includes(rule)) ?? "ask";
}

/** The rules of an agent, its own first. */
export function layersOf({ agents, all }: ToolPolicy, agent: string): readonly ToolRules[] {
  const own = Object.hasOwn(agents, agent) ? agents[agent] : undefined;
  return own === undefined ? all : [own, ...all];
}

/**
 * The rule of a tool. The first layer that names it has the word, and in a layer the name that fits best; without any,
 * a person is asked about what changes something.
 */
export function toolRule(layers: readonly ToolRules[], { name, source }: RuledTool): ToolRule {
  const { server, tool = name } = source;
  const names = [name, ...(server === undefined ? [] : [`${server}/${tool}`, `${server}/*`]), "*"];
  for (const rules of layers) {
    const fits = names.find((one) => Object.hasOwn(rules, one));
    // What stands in the way of Lily's own is said by name: `*` is about what others give.
    if (fits !== undefined && (fits !== "*" || source.from !== "lily")) return rules[fits] ?? "ask";
  }
  return changesSomething(source) ? "ask" : "allow";
}
