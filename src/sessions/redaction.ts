/**
 * What is left of a turn whose body was erased, the list of erasures in the chain, outside what seals cover, and what the chain
 * itself loses; none of it says what was said. Pure.
 */
import { z } from "zod";
import { defined } from "#src/kernel/json.ts";
import { type ChainEntry, type EntryPart, partOf, type Redaction, withoutParts } from "./chain-entry.ts";
import type { Chain } from "./chain.ts";
import { withoutWords, wordlessLedgerChangeSchema } from "./ledger.ts";
import { sessionChangesSchema, type SessionChanges } from "./session-changes.ts";
import type { TurnRecord } from "./turn-record.ts";

export const redactedTurnSchema = z.strictObject({
  v: z.literal(1),
  sessionId: z.string(),
  turn: z.int().min(1),
  redacted: z.strictObject({
    /** ISO instant of the erasure. */
    at: z.string(),
  }),
  kind: z.enum(["chat", "command"]),
  /** Kept, so that a redelivery is known and never answered a second time. */
  deliveryId: z.string(),
  /** Deliveries that were answered with it, without the hashes of their texts. */
  collected: z.array(z.strictObject({ deliveryId: z.string() })).optional(),
  at: z.string(),
  /**
   * What the turn changed in its session, which may be made anew from it: no title; of a task and of models only that they were
   * left, but in marks of earlier versions; of the ledger the numbers alone.
   */
  changes: sessionChangesSchema
    .omit({ title: true })
    .extend({
      task: z.null().optional(),
      style: z.null().optional(),
      kbs: z.null().optional(),
      ledger: z.array(wordlessLedgerChangeSchema).optional(),
    })
    .optional(),
  leaf: z.string(),
  head: z.string(),
});

/** The mark that stands where a turn's body was erased: its number, its deliveries and its place in the hash chain. */
export type RedactedTurn = z.infer<typeof redactedTurnSchema>;

/** What stands under a turn's number: the turn, or the mark that it was erased. */
export type StoredTurn = TurnRecord | RedactedTurn;

/** Whether only the mark of the turn is left. */
export function isRedacted(stored: StoredTurn): stored is RedactedTurn {
  return "redacted" in stored;
}

/** Those that were not erased. */
export function wholeTurns(stored: readonly StoredTurn[]): TurnRecord[] {
  return stored.flatMap((turn) => (isRedacted(turn) ? [] : [turn]));
}

/** The deliveries that a turn answered, in order; known of an erased one as well. */
export function deliveryIdsOf({ collected = [], deliveryId }: StoredTurn): string[] {
  return [deliveryId, ...collected.map((delivery) => delivery.deliveryId)];
}

/** The mark of a turn: salt, hashes of texts and all that was said are gone; leaf and head stay. */
export function redactTurn(record: TurnRecord, at: string): RedactedTurn {
  const { sessionId, turn, kind, deliveryId, leaf, head } = record;
  const collected = record.collected?.map((delivery) => ({ deliveryId: delivery.deliveryId }));
  const changes = withoutTexts(record.changes);
  const kept = { sessionId, turn, kind, deliveryId, collected, at: record.at, changes, leaf, head };
  return defined({ v: 1 as const, redacted: { at }, ...kept });
}

/** A task or model that was chosen becomes none: the one before it was left all the same. */
function withoutTexts(changes: SessionChanges = {}): RedactedTurn["changes"] {
  const { title: _title, task, style, kbs, model, controlModel, ledger, compacted, ...settings } = changes;
  const none = (chosen: unknown): null | undefined => (chosen === undefined ? undefined : null);
  const kept = defined({
    ...settings,
    task: none(task),
    style: none(style),
    kbs: none(kbs),
    model: none(model),
    controlModel: none(controlModel),
    ledger: ledger && withoutWords(ledger),
    compacted: compacted && { sessionId: compacted.sessionId, turn: compacted.turn },
  });
  return Object.keys(kept).length === 0 ? undefined : kept;
}

/** Erased turns of a session by their number, with the time of the erasure. */
export function erasedTurns(
  chain: Pick<Chain, "redactions">,
  sessionId: string,
): ReadonlyMap<number, string> {
  const own = (chain.redactions ?? []).filter((redaction) => redaction.sessionId === sessionId);
  return new Map(own.flatMap(({ at, turns = [] }) => turns.map((turn) => [turn, at] as const)));
}

/** Erased parts of a session's chain entry. */
export function erasedParts(chain: Pick<Chain, "redactions">, sessionId: string): readonly EntryPart[] {
  const own = (chain.redactions ?? []).filter((redaction) => redaction.sessionId === sessionId);
  return own.flatMap(({ parts = [] }) => parts);
}

/** Turns that are erased. */
interface TurnErasure {
  /** ISO instant. */
  readonly at: string;
  readonly turns: readonly { readonly sessionId: string; readonly turn: number }[];
  /** The deliveries of those turns: the hash of the text of one that opened a session goes as well. */
  readonly deliveryIds: ReadonlySet<string>;
}

/** The chain that lists the erasure of turns; the same chain when it lists them all already. */
export function eraseTurnsFromChain(chain: Chain, { at, turns, deliveryIds }: TurnErasure): Chain {
  const sessionIds = new Set(turns.map(({ sessionId }) => sessionId));
  const listed = [...sessionIds].reduce((before, sessionId) => {
    const own = turns.filter((turn) => turn.sessionId === sessionId).map(({ turn }) => turn);
    return listRedaction(before, { sessionId, at, turns: own });
  }, chain);
  const erased = eraseParts(listed, at, ({ opened }) =>
    deliveryIds.has(opened.deliveryId) && (opened.textHash ?? opened.leftHash) !== undefined
      ? ["opened"]
      : [],
  );
  return erased === chain ? chain : { ...erased, revision: chain.revision + 1 };
}

/** The chain without the titles, tasks and models that say something; the same chain when none does. */
export function erasePartsFromChain(chain: Chain, says: (text: string) => boolean, at: string): Chain {
  const erased = eraseParts(chain, at, (entry) => partsSaying(entry, says));
  return erased === chain ? chain : { ...erased, revision: chain.revision + 1 };
}

/** The title, the task and the models of an entry, as far as they say something. */
export function partsSaying(entry: ChainEntry, says: (text: string) => boolean): EntryPart[] {
  return (["title", "task", "style", "kbs", "models"] as const).filter((part) => {
    const text = partOf(entry, part);
    return text !== undefined && says(text);
  });
}

function eraseParts(chain: Chain, at: string, partsOf: (entry: ChainEntry) => EntryPart[]): Chain {
  return chain.sessions.reduce((before, entry) => {
    const parts = partsOf(entry);
    if (parts.length === 0) return before;
    const listed = listRedaction(before, { sessionId: entry.sessionId, at, parts });
    const bare = withoutParts(entry, parts);
    return { ...listed, sessions: listed.sessions.map((one) => (one === entry ? bare : one)) };
  }, chain);
}

/** The chain that lists what it does not list yet; the same chain when there is nothing new. */
function listRedaction(chain: Chain, { sessionId, at, turns = [], parts = [] }: Redaction): Chain {
  const known = erasedTurns(chain, sessionId);
  const listed = erasedParts(chain, sessionId);
  const newTurns = [...new Set(turns)].filter((turn) => !known.has(turn)).sort((a, b) => a - b);
  const newParts = parts.filter((part) => !listed.includes(part));
  if (newTurns.length === 0 && newParts.length === 0) return chain;
  const redaction = {
    sessionId,
    at,
    turns: newTurns.length === 0 ? undefined : newTurns,
    parts: newParts.length === 0 ? undefined : newParts,
  };
  return { ...chain, redactions: [...(chain.redactions ?? []), defined(redaction)] };
}
