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

/** Messages as JSON: they are most of a state, and are stored again with each point of a run. */
const TEXTS = new WeakMap<BaseMessage, Written>();

/** What was written, and the fields of which a change would be seen, in the order of {@link FIELDS}. */
interface Written {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** A message as JSON; `textOfFields` makes it of what its fields hold. */
export function messageText(message: BaseMessage, textOfFields: (fields: object) => string): string {
  const source = message as unknown as Fields;
  const known = TEXTS.get(message);
  // A message is a value; should somebody have replaced a part of one all the same, it is written anew.
  if (known !== undefined && holds(source, known.values)) return known.text;
  const fields = Object.fromEntries(FIELDS.map((name) => [name, source[name]]));
  const kwargs = textOfFields(toldOf(fields));
  const text = `{"lc":1,"type":"constructor","id":${JSON.stringify(message.lc_id)},"kwargs":${kwargs}}`;
  TEXTS.set(message, { text, values: Object.values(fields) });
  return text;
}

// Without a closure: it is asked of every message of a state with every state.
function holds(source: Fields, values: readonly unknown[]): boolean {
  for (let index = 0; index < FIELDS.length; index += 1)
    if (source[FIELDS[index] ?? ""] !== values[index]) return false;
  return true;
}

/** What is told of the fields of a message. */
function toldOf(fields: Fields): Fields {
  // Without calls a constructor makes them of the raw ones, which were put aside then.
  const hasRaw = !isEmpty(fields["additional_kwargs"]);
  return Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) => value !== undefined && (hasRaw || !BEGUN_EMPTY.has(name) || !isEmpty(value)),
    ),
  );
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
