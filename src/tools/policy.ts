/** What may be done with a tool: run it, ask a person first, or neither. */
import { z } from "zod";
import type { ToolSource } from "./tool-source.ts";

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
