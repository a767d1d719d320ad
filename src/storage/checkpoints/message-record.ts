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

/** What is stored of a message, by LangChain's names and in this order; what is not there is left out. */
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

type Fields = Readonly<Record<(typeof FIELDS)[number], unknown>>;

// Each field by its name: engines look up one that is named by a variable ten times slower, and each message of a state
// is looked at with every state.
const areSame = (one: Fields, other: Fields): boolean =>
  one.content === other.content &&
  one.id === other.id &&
  one.name === other.name &&
  one.additional_kwargs === other.additional_kwargs &&
  one.response_metadata === other.response_metadata &&
  one.tool_calls === other.tool_calls &&
  one.invalid_tool_calls === other.invalid_tool_calls &&
  one.tool_call_chunks === other.tool_call_chunks &&
  one.usage_metadata === other.usage_metadata &&
  one.tool_call_id === other.tool_call_id &&
  one.status === other.status &&
  one.artifact === other.artifact &&
  one.role === other.role;

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
const TEXTS = new WeakMap<object, Written>();

/** What was written, and the fields of which a change would be seen. */
interface Written {
  readonly text: string;
  readonly fields: Fields;
}

/** The text of a message that was made before; `undefined` for any other value. */
export function knownText(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const known = TEXTS.get(value);
  // A message is a value; should somebody have replaced a part of one all the same, it is written anew.
  return known !== undefined && areSame(value as Fields, known.fields) ? known.text : undefined;
}

/** A message as JSON; `textOfFields` makes it of what its fields hold. */
export function messageText(message: BaseMessage, textOfFields: (fields: object) => string): string {
  const known = knownText(message);
  if (known !== undefined) return known;
  const source = message as unknown as Fields;
  const fields = Object.fromEntries(FIELDS.map((name) => [name, source[name]])) as Fields;
  const kwargs = textOfFields(toldOf(fields));
  const text = `{"lc":1,"type":"constructor","id":${JSON.stringify(message.lc_id)},"kwargs":${kwargs}}`;
  TEXTS.set(message, { text, fields });
  return text;
}

/** What is told of the fields of a message. */
function toldOf(fields: Fields): Partial<Fields> {
  // Without calls a constructor makes them of the raw ones, which were put aside then.
  const hasRaw = !isEmpty(fields.additional_kwargs);
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
export function reviveMessage(record: Record<string, unknown>): BaseMessage | undefined {
  const { id, kwargs } = record;
  if (!Array.isArray(id) || typeof kwargs !== "object" || kwargs === null) return undefined;
  if (id[0] !== "langchain_core" || id[1] !== "messages") return undefined;
  const Class = CLASSES[String(id[2])];
  if (Class === undefined) return undefined;
  return new Class({ ...kwargs } as never);
}
