/** Finds the result of each tool call of a sequence, and the results that belong to none. Pure. */
import { toStorableText } from "#src/kernel/json.ts";
import type { Message, ToolCall } from "#src/sessions/message.ts";

/** A call with its place for one result. */
export interface CallSlot {
  readonly call: ToolCall;
  /** The call's id made unique in the sequence. */
  readonly id: string;
  readonly result?: Message;
  /** The result did not stand where it is expected: right behind the call, in the order of the calls. */
  readonly isMoved: boolean;
}

/** All calls with their results. */
export interface Pairing {
  /** The calls of the message at a place, in order. */
  slotsAt(at: number): readonly CallSlot[];
  /** Results of calls that are not there. */
  readonly orphans: readonly Message[];
  /** Further results of calls that have one. */
  readonly duplicates: readonly Message[];
}

interface OpenSlot {
  readonly call: ToolCall;
  readonly id: string;
  readonly askedAt: number;
  /** Where the result is expected. */
  readonly expectedAt: number;
  resultAt?: number;
}

/**
 * Pairs calls and results. A result belongs to the newest call of its id before it that has none; some servers number
 * the calls of each message anew. One that comes before its call belongs to it when no user message stands between.
 */
export function pairResults(messages: readonly Message[]): Pairing {
  const slots = slotsIn(messages);
  const byId = groupById(slots);
  const orphans: Message[] = [];
  const duplicates: Message[] = [];
  const early: number[] = [];
  for (const [at, message] of messages.entries()) {
    if (message.role !== "tool") continue;
    const asked = (byId.get(message.toolCallId ?? "") ?? []).filter((slot) => slot.askedAt < at);
    const newest = asked.at(-1)?.askedAt;
    const open = asked.find((slot) => slot.askedAt === newest && slot.resultAt === undefined);
    if (open !== undefined) open.resultAt = at;
    else early.push(at);
  }
  for (const at of early) {
    const message = messages[at];
    if (message === undefined || takeEarly(messages, slots, at)) continue;
    const isAnswered = slots.some((slot) => slot.call.id === message.toolCallId && slot.askedAt < at);
    (isAnswered ? duplicates : orphans).push(message);
  }
  return { orphans, duplicates, slotsAt: slotsByPlace(messages, slots) };
}

/** Whether a result that came before its call found it. */
function takeEarly(messages: readonly Message[], slots: readonly OpenSlot[], at: number): boolean {
  const nextUser = messages.findIndex((message, index) => index > at && message.role === "user");
  const until = nextUser === -1 ? messages.length : nextUser;
  const id = messages[at]?.toolCallId;
  const slot = slots.find(
    ({ call, askedAt, resultAt }) =>
      call.id === id && resultAt === undefined && askedAt > at && askedAt < until,
  );
  if (slot !== undefined) slot.resultAt = at;
  return slot !== undefined;
}

function slotsIn(messages: readonly Message[]): OpenSlot[] {
  const taken = new Set<string>();
  return messages.flatMap((message, askedAt) =>
    callsOf(message).map((call, index) => {
      const id = uniqueId(toStorableText(call.id), taken);
      taken.add(id);
      return { call, id, askedAt, expectedAt: askedAt + 1 + index };
    }),
  );
}

const callsOf = ({ role, toolCalls }: Message): readonly ToolCall[] =>
  role === "assistant" ? (toolCalls ?? []) : [];

/** The id, or the id with the first number that is free behind it. */
function uniqueId(id: string, taken: ReadonlySet<string>): string {
  const base = id.trim() === "" ? "call" : id;
  if (base === id && !taken.has(id)) return id;
  for (let number = 2; ; number += 1) {
    const numbered = `${base}-${number}`;
    if (!taken.has(numbered)) return numbered;
  }
}

function groupById(slots: readonly OpenSlot[]): ReadonlyMap<string, OpenSlot[]> {
  const byId = new Map<string, OpenSlot[]>();
  for (const slot of slots) {
    const same = byId.get(slot.call.id);
    if (same === undefined) byId.set(slot.call.id, [slot]);
    else same.push(slot);
  }
  return byId;
}

function slotsByPlace(messages: readonly Message[], slots: readonly OpenSlot[]): Pairing["slotsAt"] {
  const byPlace = new Map<number, CallSlot[]>();
  for (const { call, id, askedAt, expectedAt, resultAt } of slots) {
    const result = resultAt === undefined ? undefined : messages[resultAt];
    const slot = { call, id, isMoved: resultAt !== expectedAt, ...(result === undefined ? {} : { result }) };
    byPlace.set(askedAt, [...(byPlace.get(askedAt) ?? []), slot]);
  }
  return (at) => byPlace.get(at) ?? [];
}
