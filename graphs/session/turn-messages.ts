/** The messages of the turn in flight: which they are, which calls of tools among them are open, and what answers one. */
import { AIMessage, type BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { InvalidToolCall, ToolCall } from "@langchain/core/messages/tool";
import { findSecrets, maskFindings, namedRule } from "#memory/policy/find-secrets.ts";
import type { SecretScanner } from "#memory/policy/secret-scanner.ts";
import { POLICY_RULES } from "#memory/policy/verdict.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { deriveUuid } from "#src/kernel/ids.ts";
import { defined, toStorableText } from "#src/kernel/json.ts";
import type { Message } from "#src/sessions/message.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { invalidCallId, NO_OUTPUT, unnamedCallId } from "#src/turns/langchain-messages.ts";
import { type ResultKeeper, resultText } from "./kept-results.ts";
import { NOTE } from "./ledger-tools.ts";
import { REMEMBER } from "./memory-tools.ts";
import { isNotice } from "./messages.ts";
import type { SessionStateValues, TurnInFlight } from "./state.ts";

type Messages = Pick<SessionStateValues, "messages" | "window">;

/** Session and turn of a state inside a turn. @throws {LilyError} `internal` when a graph was wired wrongly */
export function requireTurn(state: Pick<SessionStateValues, "session" | "turn">): {
  session: SessionFields;
  turn: TurnInFlight;
} {
  if (state.session === null || state.turn === null) {
    throw new LilyError("internal", "this step runs only inside a turn", { next: "Send the message again." });
  }
  return { session: state.session, turn: state.turn };
}

/** Messages of the turn as they stand in `messages`; the first is the user's. */
export function messagesInFlight(state: Messages, turn: TurnInFlight): BaseMessage[] {
  const begin = state.messages.findIndex((message) => message.id === turn.firstMessageId);
  if (begin === -1) return [];
  const isCommitted = (id: string): boolean => state.window.some(({ messageIds }) => messageIds.includes(id));
  return state.messages
    .slice(begin)
    .filter((message) => !isNotice(message) && !isCommitted(message.id ?? ""));
}

/** The user's message as a model is given it: what is to be answered, without a command before it. */
export function userMessage({ text, attachments }: Pick<TurnInFlight, "text" | "attachments">): Message {
  return { role: "user", content: text, timestamp: "", ...defined({ attachments }) };
}

/** Whether a model's message asks for tools, also by calls that could not be read. */
export function asksForTools(message: AIMessage): boolean {
  return (message.tool_calls ?? []).length + (message.invalid_tool_calls ?? []).length > 0;
}

/** A call, and the message that made it: some servers number the calls of each message anew. */
export type OpenCall = Pick<ToolCall, "name" | "args"> & { readonly id: string; readonly messageId: string };

/** Calls without a result. */
export interface OpenCalls {
  /** In the order in which the model made them. */
  readonly calls: readonly OpenCall[];
  /** Answers to calls whose arguments were no JSON, so that none stays open. */
  readonly refused: readonly ToolMessage[];
}

/** The open calls of the last message of a model in `messages`. */
export function openCalls(messages: readonly BaseMessage[]): OpenCalls {
  const at = messages.findLastIndex((message) => AIMessage.isInstance(message));
  const asking = messages[at];
  const last = AIMessage.isInstance(asking) ? asking : undefined;
  const messageId = last?.id ?? "";
  const results = messages.slice(at + 1).filter((message) => ToolMessage.isInstance(message));
  const answered = new Set(results.map((message) => message.tool_call_id));
  const invalid = (last?.invalid_tool_calls ?? []).map((call, index) => ({
    id: call.id ?? invalidCallId(index),
    name: call.name ?? "unknown",
    messageId,
    why: call.error ?? "The arguments are not a JSON object.",
  }));
  return {
    calls: (last?.tool_calls ?? [])
      .map(({ id, name, args }, index) => ({ id: id ?? unnamedCallId(index), name, args, messageId }))
      .filter(({ id }) => !answered.has(id)),
    refused: invalid
      .filter(({ id }) => !answered.has(id))
      .map((call) => resultOf(call, `not run: ${call.why}`, "error")),
  };
}

/** Tools that are there to keep a text. */
const KEEPING: readonly string[] = [REMEMBER.name, NOTE.name];

/**
 * The message without what its calls may not have kept: a call that gives a secret to a tool that keeps texts is not run,
 * and has the name of its rule in the place of the secret, so that it stands neither in the transcript nor in later prompts.
 */
export async function withoutSecrets(message: AIMessage, scan: SecretScanner): Promise<AIMessage> {
  const { tool_calls: calls = [], invalid_tool_calls: invalid = [] } = message;
  const masked = await Promise.all(
    [...calls, ...invalid].map(async (call) =>
      KEEPING.includes(call.name ?? "") ? withoutSecret(call, scan) : undefined,
    ),
  );
  if (masked.every((call) => call === undefined)) return message;
  message.tool_calls = calls.filter((_, index) => masked[index] === undefined);
  message.invalid_tool_calls = [
    ...masked.slice(0, calls.length).filter((call) => call !== undefined),
    ...invalid.map((call, index) => masked[calls.length + index] ?? call),
  ];
  return message;
}

/** The call as it is kept when there is a secret in it. */
async function withoutSecret(
  { id, name, args = "" }: ToolCall | InvalidToolCall,
  scan: SecretScanner,
): Promise<InvalidToolCall | undefined> {
  const fields = typeof args === "string" ? { args } : args;
  let why: string | undefined;
  const kept: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(fields)) {
    const said = typeof value === "string" ? value : JSON.stringify(value);
    const findings = await findSecrets(said, scan);
    kept[field] = findings.length === 0 ? value : maskFindings(said, findings);
    if (findings.length > 0) why ??= POLICY_RULES[namedRule(findings)];
  }
  if (why === undefined) return undefined;
  return {
    type: "invalid_tool_call",
    ...defined({ id, name }),
    args: typeof args === "string" ? String(kept["args"]) : JSON.stringify(kept),
    error: `${why}. Tell the user, and do not try again in other words.`,
  };
}

/** A tool that failed without a word must not read like one that had nothing to say. */
const NO_REASON = "the tool failed, and gave no reason";

/** The result of a call, under an id that is the same wherever it is made and kept. */
export function resultOf(
  { id, name, messageId }: Pick<OpenCall, "id" | "name" | "messageId">,
  text: string,
  status: "success" | "error",
): ToolMessage {
  const said = status === "error" ? NO_REASON : NO_OUTPUT;
  const content = text.trim() === "" ? said : toStorableText(text);
  return new ToolMessage({
    content,
    tool_call_id: id,
    name,
    status,
    id: deriveUuid("result", messageId, id),
  });
}

/** The result of a call that ran, of whatever kind; what is too big for the conversation is kept beside it. */
export async function toolResultOf(
  call: OpenCall,
  value: unknown,
  keeper: ResultKeeper,
): Promise<ToolMessage> {
  const status = ToolMessage.isInstance(value) ? value.status : undefined;
  return resultOf(call, await resultText(value, keeper), status ?? "success");
}
