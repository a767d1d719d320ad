/** Repairs the copy of a conversation that a model is sent: whatever is stored, what goes out is a valid sequence. Pure. */
import { toStorableText, toStorableValue } from "#src/kernel/json.ts";
import type { Message, ToolCall } from "#src/sessions/message.ts";
import { pairResults, type CallSlot } from "./pair-results.ts";

/** What is wrong with a stored message, by what is done about it. */
export type RepairKind =
  | "orphan_result_dropped"
  | "duplicate_result_dropped"
  | "result_moved"
  | "missing_result_added"
  | "blank_message_dropped"
  | "blank_text_replaced"
  | "call_renamed"
  | "arguments_replaced"
  | "text_replaced";

/** How often each repair was made; kinds that were not needed are absent. */
export type Repairs = Readonly<Partial<Record<RepairKind, number>>>;

/** A sequence that every provider takes. */
export interface RepairedMessages {
  /** Messages that needed nothing are the same objects as before. */
  readonly messages: readonly Message[];
  readonly repairs: Repairs;
}

/** The result of a call that has none. */
export const MISSING_RESULT = "[no result: the call was interrupted; it may or may not have taken effect]";

/** Where a tool said nothing. */
export const NO_OUTPUT = "(no output)";

/**
 * Repairs a sequence: each call is followed by its one result in the order of the calls, no result stands alone, ids of
 * calls are unique, arguments are JSON objects, no text is blank or unstorable. The order of the rest stays.
 */
export function repairMessages(messages: readonly Message[]): RepairedMessages {
  const counts: Partial<Record<RepairKind, number>> = {};
  const note = (kind: RepairKind): void => void (counts[kind] = (counts[kind] ?? 0) + 1);
  const pairing = pairResults(messages);
  for (const _orphan of pairing.orphans) note("orphan_result_dropped");
  for (const _duplicate of pairing.duplicates) note("duplicate_result_dropped");
  const repaired = messages.flatMap((message, at) => repairOne(message, pairing.slotsAt(at), note));
  return { messages: repaired, repairs: counts };
}

type Note = (kind: RepairKind) => void;

/** Messages without calls that needed nothing: what is sent with every call of a long conversation is looked at once. */
const SOUND = new WeakSet<Message>();

function repairOne(message: Message, slots: readonly CallSlot[], note: Note): Message[] {
  if (slots.length === 0 && SOUND.has(message)) return [message];
  const repaired = repairByRole(message, slots, note);
  if (slots.length === 0 && repaired.length === 1 && repaired[0] === message) SOUND.add(message);
  return repaired;
}

function repairByRole(message: Message, slots: readonly CallSlot[], note: Note): Message[] {
  switch (message.role) {
    case "tool":
      // Sent behind its call, or not at all.
      return [];
    case "user":
      return [withText(message, userText(message, note))];
    case "system":
      return isBlank(message.content) ? dropped(note) : [withText(message, cleanText(message.content, note))];
    case "assistant":
      return repairAssistant(message, slots, note);
  }
}

function dropped(note: Note): Message[] {
  note("blank_message_dropped");
  return [];
}

/** A picture needs no text; a blank message would be refused, and without it two answers would stand in a row. */
function userText({ content, attachments }: Message, note: Note): string {
  if (!isBlank(content)) return cleanText(content, note);
  if ((attachments ?? []).length > 0) return content === "" ? content : replaced("", note);
  return replaced("(no text)", note);
}

function repairAssistant(message: Message, slots: readonly CallSlot[], note: Note): Message[] {
  if (isBlank(message.content) && slots.length === 0) return dropped(note);
  const isBlankBesideCalls = isBlank(message.content) && message.content !== "";
  const content = isBlankBesideCalls ? replaced("", note) : cleanText(message.content, note);
  const toolCalls = slots.map((slot) => repairCall(slot, note));
  const asked = withCalls(withText(message, content), toolCalls);
  return [
    asked,
    ...slots.map((slot, index) => resultFor(slot, toolCalls[index]?.id ?? "", { message, note })),
  ];
}

function repairCall({ call, id }: CallSlot, note: Note): ToolCall {
  const name = callName(call.name);
  const args = jsonArguments(call.arguments);
  if (id !== call.id || name !== call.name) note("call_renamed");
  if (args !== call.arguments) note("arguments_replaced");
  return id === call.id && name === call.name && args === call.arguments
    ? call
    : { id, name, arguments: args };
}

function resultFor(
  { result, isMoved }: CallSlot,
  id: string,
  { message, note }: { readonly message: Message; readonly note: Note },
): Message {
  if (result === undefined) {
    note("missing_result_added");
    return { role: "tool", content: MISSING_RESULT, toolCallId: id, timestamp: message.timestamp };
  }
  if (isMoved) note("result_moved");
  const content = isBlank(result.content) ? replaced(NO_OUTPUT, note) : cleanText(result.content, note);
  const named = result.toolCallId === id ? result : { ...result, toolCallId: id };
  return withText(named, content);
}

/** Providers take letters, digits, "_" and "-" in the name of a function, at most 64. */
function callName(name: string): string {
  const plain = name.replaceAll(/[^\w-]/gu, "_").slice(0, 64);
  return plain === "" ? "unknown" : plain;
}

/** The same text where it is the JSON of a storable object already. */
function jsonArguments(text: string): string {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== "object" || parsed === null || Array.isArray(parsed)) return "{}";
    const given = JSON.stringify(parsed);
    const clean = JSON.stringify(toStorableValue(parsed));
    return given === clean && toStorableText(text) === text ? text : clean;
  } catch {
    // A model may send arguments that are no JSON; providers refuse a history that repeats them.
    return "{}";
  }
}

function cleanText(text: string, note: Note): string {
  const clean = toStorableText(text);
  if (clean !== text) note("text_replaced");
  return clean;
}

function replaced(text: string, note: Note): string {
  note("blank_text_replaced");
  return text;
}

const isBlank = (text: string): boolean => text.trim() === "";

const withText = (message: Message, content: string): Message =>
  content === message.content ? message : { ...message, content };

function withCalls(message: Message, calls: readonly ToolCall[]): Message {
  const before = message.toolCalls ?? [];
  return calls.every((call, index) => call === before[index])
    ? message
    : { ...message, toolCalls: [...calls] };
}
