/**
 * A question about one call of a tool, and what a person answers: the values that go through LangGraph's `interrupt`, in the
 * form of LangChain's human-in-the-loop middleware, so that its clients show them.
 */
import { z } from "zod";
import { refused, type Envelope } from "#src/kernel/envelope.ts";
import { parseJson } from "#src/kernel/json.ts";
import { fenced, joined } from "#src/kernel/markdown.ts";
import { sliceWhole } from "#src/kernel/text.ts";
import { changesSomething, type ToolSource } from "./policy.ts";

/** Schema of {@link Approval}. */
export const approvalSchema = z.strictObject({
  /** The same for the same call, wherever it is asked about. */
  id: z.string(),
  /** Name of the tool as the model knows it. */
  tool: z.string(),
  args: z.record(z.string(), z.unknown()),
  /** What the tool says that it does. */
  description: z.string(),
  /** The MCP server that it belongs to. */
  server: z.string().optional(),
  /** Whether it may change something. */
  changes: z.boolean(),
});

/** A call of a tool that waits for a person. */
export type Approval = z.infer<typeof approvalSchema>;

const editedSchema = z.object({ name: z.string(), args: z.record(z.string(), z.unknown()) });

/** Schema of {@link Decision}. */
export const decisionSchema = z.discriminatedUnion("type", [
  // `always`: and every further call of that tool in this session.
  z.object({ type: z.literal("approve"), always: z.boolean().optional() }),
  z.object({ type: z.literal("reject"), message: z.string().optional() }),
  z.object({ type: z.literal("edit"), editedAction: editedSchema }),
]);

/** What a person decided. */
export type Decision = z.infer<typeof decisionSchema>;

// Clients of LangChain's Python agents, agent-chat-ui among them, know the fields by other names.
const anyDecisionSchema = z.preprocess((sent) => {
  if (typeof sent !== "object" || sent === null || !("edited_action" in sent)) return sent;
  const { edited_action: editedAction, ...rest } = sent;
  return { editedAction, ...rest };
}, decisionSchema);

/** Schema of an answer: one decision, as one call is asked about at a time. */
const answerSchema = z.object({ decisions: z.tuple([anyDecisionSchema]) });

/** The question about a call. */
export function approvalOf(
  call: Pick<Approval, "id" | "args"> & { readonly name: string },
  tool: { readonly description: string; readonly source: ToolSource },
): Approval {
  const { server } = tool.source;
  return {
    id: call.id,
    tool: call.name,
    args: call.args,
    description: tool.description,
    ...(server === undefined ? {} : { server }),
    changes: changesSomething(tool.source),
  };
}

const DECISIONS = ["approve", "edit", "reject"];

/** What `interrupt` is given: a `HITLRequest` under the names of LangChain for JavaScript and for Python. */
export function approvalRequest(approval: Approval, problem?: string) {
  const { tool: name, args } = approval;
  const description = joined([problem, approvalText(approval)], "\n\n");
  const actions = [{ name, args, description }];
  // Both names in each: `useStream` puts the one list in the other's place, and agent-chat-ui looks for `action_name` in it.
  const configs = [
    { actionName: name, action_name: name, allowedDecisions: DECISIONS, allowed_decisions: DECISIONS },
  ];
  return {
    approval,
    actionRequests: actions,
    reviewConfigs: configs,
    action_requests: actions,
    review_configs: configs,
  };
}

/** The decision that a client resumed with, or what is wrong with it. */
export function parseAnswer(
  answer: unknown,
  approval: Approval,
): { readonly decision: Decision } | { readonly problem: string } {
  const parsed = answerSchema.safeParse(answer);
  if (!parsed.success)
    return {
      problem: 'The answer was not understood; it is {"decisions":[{"type":"approve"}]}, or "reject".',
    };
  const [decision] = parsed.data.decisions;
  if (decision.type !== "edit") return { decision };
  const { name, args } = decision.editedAction;
  if (name !== approval.tool)
    return { problem: `Another tool than ${approval.tool} cannot be run in its place.` };
  const read = Object.entries(args).map(
    ([key, value]) => [key, readTyped(value, approval.args[key])] as const,
  );
  return { decision: { ...decision, editedAction: { name, args: Object.fromEntries(read) } } };
}

/** A page with text fields, as agent-chat-ui, sends text for whatever was edited: it is read as what stood there before. */
function readTyped(value: unknown, before: unknown): unknown {
  if (typeof value !== "string" || kindOf(before) === "string" || kindOf(before) === "nothing") return value;
  const read = parseJson(value);
  return kindOf(read) === kindOf(before) ? read : value;
}

function kindOf(value: unknown): string {
  if (value === undefined || value === null) return "nothing";
  return Array.isArray(value) ? "list" : typeof value;
}

/** The approval that an interrupt's value, or the data of an envelope, asks for. */
export function approvalIn(value: unknown): Approval | undefined {
  return z.object({ approval: approvalSchema }).safeParse(value).data?.approval;
}

/** In words what the call is about. */
export function approvalText({ description, server, changes }: Approval): string {
  const whole = description.trim();
  const said = whole.length > SAID_CHARACTERS ? `${sliceWhole(whole, 0, SAID_CHARACTERS)}…` : whole;
  return joined([
    said === "" || /[.!?…]$/u.test(said) ? said : `${said}.`,
    server === undefined ? "" : `It belongs to the MCP server ${server}.`,
    changes ? "It may change something." : "",
  ]);
}

/** A server's description may be long, and is not what is asked about. */
const SAID_CHARACTERS = 600;
const SHOWN_CHARACTERS = 2_000;
const SHOWN_LINES = 30;

/** Arguments as a person reads them, cut. */
export function argumentsText({ args }: Pick<Approval, "args">): string {
  const text = JSON.stringify(args, null, 2);
  const shown = sliceWhole(text.split("\n").slice(0, SHOWN_LINES).join("\n"), 0, SHOWN_CHARACTERS);
  const left = text.length - shown.length;
  return left === 0 ? text : `${shown}…\n(${left} more characters)`;
}

/** What a caller is told whose message waits for a decision. */
export function waitingEnvelope(approval: Approval): Envelope {
  return refused("turn_waiting", `${approval.tool} waits for your decision`, {
    body: `${approvalText(approval)}\n\n${fenced("json", argumentsText(approval))}`,
    next: "Approve or reject it. With another message it counts as not approved.",
    data: { approval },
  });
}
