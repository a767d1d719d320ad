/** How a turn lies in the Store: without what its place, or the turn itself, says already. */
import { decodeLabel } from "#src/kernel/namespace-label.ts";
import type { RedactedTurn } from "#src/sessions/redaction.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { isRecord } from "#src/kernel/is-record.ts";

/** Where an item lies. */
export interface ItemPlace {
  readonly namespace: readonly string[];
  readonly key: string;
}

/** What nearly every turn has, and is not written down. */
const USUAL = { v: 1, kind: "chat", status: "completed" } as const;

/** The item of a record. Every turn is kept for ever, so a name that is said twice is paid for for ever. */
export function toTurnItem(record: TurnRecord): Record<string, unknown> {
  const { sessionId, turn: _turn, messages, reply, explanation, ...rest } = record;
  const item: Record<string, unknown> = {
    ...rest,
    messages: messages.map(({ timestamp, ...message }) =>
      timestamp === record.at ? message : { ...message, timestamp },
    ),
    ...(Object.keys(reply).length === 0 ? {} : { reply }),
    explanation: withoutOwnSession(explanation, sessionId),
  };
  for (const [name, value] of Object.entries(USUAL)) if (item[name] === value) delete item[name];
  return item;
}

/** The item of a mark; what its place says is left out of it, too. */
export function toMarkItem(mark: RedactedTurn): Record<string, unknown> {
  const { v: _v, sessionId: _sessionId, turn: _turn, kind, ...rest } = mark;
  return { ...rest, ...(kind === USUAL.kind ? {} : { kind }) };
}

/** The mark as it was before {@link toMarkItem}, to be checked by its schema. */
function fromMarkItem(item: Record<string, unknown>, place: ItemPlace): unknown {
  const { v, kind } = USUAL;
  return { v, kind, ...ownPlace(place), ...item };
}

function ownPlace({ namespace, key }: ItemPlace): { readonly sessionId: string; readonly turn: number } {
  return { sessionId: decodeLabel(namespace.at(-1) ?? ""), turn: Number.parseInt(key, 10) };
}

/** The record or mark as it was before {@link toTurnItem}, to be checked by its schema; older items are complete already. */
export function fromTurnItem(item: unknown, place: ItemPlace): unknown {
  if (!isRecord(item)) return item;
  if ("redacted" in item) return fromMarkItem(item, place);
  const own = ownPlace(place);
  const { messages, explanation, at } = item;
  return {
    ...USUAL,
    ...own,
    reply: {},
    ...item,
    messages: Array.isArray(messages)
      ? messages.map((message: unknown) => (isRecord(message) ? { timestamp: at, ...message } : message))
      : messages,
    explanation: withOwnSession(explanation, own.sessionId),
  };
}

function withoutOwnSession(explanation: TurnRecord["explanation"], own: string): object {
  const { receipt } = explanation;
  if (receipt === undefined) return explanation;
  const turns = receipt.turns.map(({ sessionId, ...range }) =>
    sessionId === own ? range : { sessionId, ...range },
  );
  return { ...explanation, receipt: { ...receipt, turns } };
}

function withOwnSession(explanation: unknown, own: string): unknown {
  if (!isRecord(explanation) || !isRecord(explanation["receipt"])) return explanation;
  const { receipt } = explanation;
  const { turns } = receipt;
  if (!Array.isArray(turns)) return explanation;
  const complete = turns.map((range: unknown) => (isRecord(range) ? { sessionId: own, ...range } : range));
  return { ...explanation, receipt: { ...receipt, turns: complete } };
}
