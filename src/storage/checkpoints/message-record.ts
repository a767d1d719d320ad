/** Messages in stored execution state, in the form in which LangChain serialises them. */
import {
  AIMessage,
  AIMessageChunk,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  HumanMessageChunk,
  RemoveMessage,
  SystemMessage,
  SystemMessageChunk,
  ToolMessage,
  type BaseMessage,
} from "@langchain/core/messages";

/** What is stored of a message, by LangChain's names; what is not there is left out. */
const FIELDS = [
  "content",
  "id",
  "name",
  "additional_kwargs",
  "response_metadata",
  "tool_calls",
  "invalid_tool_calls",
  "tool_call_chunks",
  "usage_metadata",
  "tool_call_id",
  "status",
  "artifact",
  "role",
] as const;

type Fields = Record<string, unknown>;

// The constructors check what they are given no further than LangChain's own loader does.
const CLASSES: Readonly<Record<string, new (fields: never) => BaseMessage>> = {
  AIMessage,
  AIMessageChunk,
  ChatMessage,
  FunctionMessage,
  HumanMessage,
  HumanMessageChunk,
  RemoveMessage,
  SystemMessage,
  SystemMessageChunk,
  ToolMessage,
};

/** Plain text messages as JSON, which are the most of a state and are stored again with each point of a run. */
const TEXTS = new WeakMap<BaseMessage, Written>();

/** What was written, with what tells that the message was changed since. */
interface Written {
  readonly text: string;
  readonly content: BaseMessage["content"];
  readonly id: string | undefined;
}

/** A message as JSON; `encode` encodes what its fields hold. */
export function messageText(message: BaseMessage, encode: (fields: object) => Fields): string {
  const { content, id } = message;
  const known = TEXTS.get(message);
  // A message is a value; should somebody have changed one all the same, it is written anew.
  if (known !== undefined && known.content === content && known.id === id) return known.text;
  const text = JSON.stringify(recordOf(message, encode));
  if (isPlain(message)) TEXTS.set(message, { text, content, id });
  return text;
}

function recordOf(message: BaseMessage, encode: (fields: object) => Fields): Fields {
  const source = message as unknown as Fields;
  const fields: Fields = {};
  for (const name of FIELDS) {
    const value = source[name];
    if (value === undefined || (BEGUN_EMPTY.has(name) && isEmpty(value))) continue;
    fields[name] = value;
  }
  return { lc: 1, type: "constructor", id: message.lc_id, kwargs: encode(fields) };
}

/** Fields that every constructor begins with empty: without them a state is a sixth smaller. */
const BEGUN_EMPTY: ReadonlySet<string> = new Set([
  "additional_kwargs",
  "response_metadata",
  "tool_calls",
  "invalid_tool_calls",
  "tool_call_chunks",
]);

const isEmpty = (value: unknown): boolean =>
  typeof value === "object" && value !== null && Object.keys(value).length === 0;

/** The message of a record; `undefined` when it is none. */
export function reviveMessage(record: Fields): BaseMessage | undefined {
  const { id, kwargs } = record;
  if (!Array.isArray(id) || typeof kwargs !== "object" || kwargs === null) return undefined;
  if (id[0] !== "langchain_core" || id[1] !== "messages") return undefined;
  const Class = CLASSES[String(id[2])];
  if (Class === undefined) return undefined;
  return new Class({ ...kwargs } as never);
}

/** Whether text, an id and flat marks are all that the message is. */
function isPlain(message: BaseMessage): boolean {
  const { tool_calls: calls, artifact } = message as unknown as Fields;
  if (typeof message.content !== "string" || artifact !== undefined) return false;
  if (Array.isArray(calls) && calls.length > 0) return false;
  return isFlat(message.additional_kwargs) && isFlat(message.response_metadata);
}

function isFlat(fields: object): boolean {
  return Object.values(fields).every(
    (field) => field !== undefined && typeof field !== "object" && field !== null,
  );
}
