/** The one reader of earlier forms of a stored turn: until 0.1 an item lacked what its place, or the turn itself, says. */
import { isRecord } from "#src/kernel/json.ts";
import { decodeLabel } from "#src/kernel/ids.ts";

/** Where an item lies. */
export interface ItemPlace {
  readonly namespace: readonly string[];
  readonly key: string;
}

/**
 * The record or mark of an item, to be checked by its schema. What is stored today is the record itself and comes back as
 * it is; an earlier item is given what it lacks, so that its seal verifies. No item is ever written again.
 */
export function fromTurnItem(item: unknown, { namespace, key }: ItemPlace): unknown {
  if (!isRecord(item)) return item;
  const sessionId = decodeLabel(namespace.at(-1) ?? "");
  const own = { v: 1, kind: "chat", sessionId, turn: Number.parseInt(key, 10) };
  if ("redacted" in item) return { ...own, ...item };
  const { messages, explanation, at } = item;
  return {
    ...own,
    status: "completed",
    reply: {},
    ...item,
    messages: eachWith(messages, { timestamp: at }),
    explanation: withOwnSession(explanation, sessionId),
  };
}

/** The receipt's ranges of turns, of which those of the own session were not named. */
function withOwnSession(explanation: unknown, sessionId: string): unknown {
  if (!isRecord(explanation) || !isRecord(explanation["receipt"])) return explanation;
  const { receipt } = explanation;
  return { ...explanation, receipt: { ...receipt, turns: eachWith(receipt["turns"], { sessionId }) } };
}

/** Each record of a list with the fields that it lacks; what is no list, or no record, stays what it is. */
function eachWith(list: unknown, fields: Record<string, unknown>): unknown {
  if (!Array.isArray(list)) return list;
  return list.map((item: unknown) => (isRecord(item) ? { ...fields, ...item } : item));
}
