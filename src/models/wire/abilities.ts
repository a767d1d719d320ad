/** What servers refuse of a request: which ability it is, and the same request without it. */
import { isRecord } from "#src/kernel/json.ts";
import type { ServerError } from "./server-error.ts";

/** The body of a chat completion request. */
export type RequestBody = Readonly<Record<string, unknown>>;

/** An ability of servers that some do not have. */
export interface Ability {
  readonly name: string;
  /** What is done without it, as the end of a sentence about the model. */
  readonly instead: string;
  /** What an error says that is about it. */
  readonly about: RegExp;
  isIn(body: RequestBody): boolean;
  without(body: RequestBody): RequestBody;
}

/** How servers say that they do not take something. */
const REFUSES = new RegExp(
  [
    String.raw`(?:\bnot|n't|\bcannot)\s+(?:\w+\s+){0,2}(?:support|allow|permit|enable|accept|available|recogni[sz]e|implement)`,
    String.raw`\b(?:unsupported|unrecogni[sz]ed|unknown|unexpected|deprecated)\b`,
    String.raw`\bonly\b.{0,40}\b(?:support|allow|accept)`,
    String.raw`\bonly the default\b|\bextra (?:inputs|fields)\b|\brequires? (?:the )?--|\bno endpoints found\b|\bmust alternate\b`,
  ].join("|"),
  "iu",
);

/** In the order in which they are looked for: the words for tools are in the names of other fields. */
const ABILITIES: readonly Ability[] = [
  field("stream_options", "its usage is counted by estimate"),
  {
    name: "streaming",
    instead: "its answers come whole",
    about: /\bstream(?:ing)?\b/iu,
    isIn: ({ stream }) => stream === true,
    without: ({ stream_options: _options, ...body }) => ({ ...body, stream: false }),
  },
  field("parallel_tool_calls", "it decides by itself how many tools it calls at once"),
  field("verbosity", "how long its answers are is told in words alone"),
  field("reasoning_effort", "it decides by itself how long it thinks"),
  field("temperature", "its server decides"),
  {
    name: "reasoning_content",
    instead: "its thoughts are not sent back to it",
    about: /reasoning_content/iu,
    isIn: (body) => messagesOf(body).some((message) => "reasoning_content" in message),
    without: (body) => ({
      ...body,
      messages: messagesOf(body).map(({ reasoning_content: _thought, ...message }) => message),
    }),
  },
  {
    name: "system role",
    instead: "its instructions stand before the first message",
    about:
      /\b(?:system|developer)\W{0,2}\s*(?:role|message|prompt|instruction)|\brole\W.{0,20}\b(?:system|developer)\b|user and assistant roles|roles must alternate/iu,
    isIn: (body) => messagesOf(body).some(isSystem),
    without: (body) => ({ ...body, messages: joined(withoutSystem(messagesOf(body))) }),
  },
  {
    name: "tools",
    instead: "it answers without them",
    about: /\btools?\b|\btool[ _-]?(?:use|choice|calling)\b|\bfunctions?\b|\bfunction[ _-]?calling\b/iu,
    isIn: (body) => "tools" in body,
    without: ({ tools: _tools, tool_choice: _choice, parallel_tool_calls: _parallel, ...body }) => ({
      ...body,
      messages: joined(messagesOf(body).map(withoutCalls)),
    }),
  },
];

/** The ability of `body` that `error` refuses; `undefined` when it is about something else. */
export function refusedAbility(error: ServerError, body: RequestBody): Ability | undefined {
  const { message, param = "" } = error;
  if (!REFUSES.test(message)) return undefined;
  return ABILITIES.find(({ about, isIn }) => isIn(body) && (about.test(message) || about.test(param)));
}

function field(name: string, instead: string): Ability {
  return {
    name,
    instead,
    about: new RegExp(String.raw`\b${name}\b`, "iu"),
    isIn: (body) => name in body,
    without: ({ [name]: _refused, ...body }) => body,
  };
}

type WireMessage = Readonly<Record<string, unknown>>;

function messagesOf({ messages }: RequestBody): WireMessage[] {
  return Array.isArray(messages) ? messages.filter(isRecord) : [];
}

function isSystem({ role }: WireMessage): boolean {
  return role === "system" || role === "developer";
}

function withoutSystem(messages: readonly WireMessage[]): WireMessage[] {
  const told = messages.filter(isSystem).map((message) => ({ ...message, role: "user" }));
  return [...told, ...messages.filter((message) => !isSystem(message))];
}

/** Calls and results of an earlier model, as text. */
function withoutCalls({ tool_calls: calls, tool_call_id: id, ...message }: WireMessage): WireMessage {
  if (id !== undefined) return { role: "user", content: `Result of a tool: ${textOf(message["content"])}` };
  if (!Array.isArray(calls)) return message;
  const names = calls.map((call: unknown) => JSON.stringify(isRecord(call) ? call["function"] : call));
  return { ...message, content: `${textOf(message["content"])}\nCalled ${names.join(", ")}`.trim() };
}

function textOf(content: unknown): string {
  return typeof content === "string" ? content : JSON.stringify(content ?? "");
}

/** Messages of the user that follow one another are one: the templates of such models want the roles to alternate. */
function joined(messages: readonly WireMessage[]): WireMessage[] {
  const alternating: WireMessage[] = [];
  for (const message of messages) {
    const last = alternating.at(-1);
    if (last?.["role"] !== "user" || message["role"] !== "user") alternating.push(message);
    else
      alternating[alternating.length - 1] = { ...last, content: both(last["content"], message["content"]) };
  }
  return alternating;
}

/** Two contents as one: texts with a blank line between them, or their parts. */
export function both(one: unknown, two: unknown): unknown {
  if (typeof one === "string" && typeof two === "string") return `${one}\n\n${two}`;
  const parts = (content: unknown): unknown[] =>
    Array.isArray(content) ? content : [{ type: "text", text: textOf(content) }];
  return [...parts(one), ...parts(two)];
}
