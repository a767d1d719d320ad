/** What is left of a turn whose body was erased, and the record of it in the chain; neither says what was said. */
import { z } from "zod";
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
  const { collected, deliveryId, head, kind, leaf, sessionId, turn } = record;
  const changes = withoutTexts(record.changes);
  return {
    v: 1,
    sessionId,
    turn,
    redacted: { at },
    kind,
    deliveryId,
    ...(collected === undefined
      ? {}
      : { collected: collected.map((delivery) => ({ deliveryId: delivery.deliveryId })) }),
    at: record.at,
    ...(changes === undefined ? {} : { changes }),
    leaf,
    head,
  };
}

/** A task or model that was chosen becomes none: the one before it was left all the same. */
function withoutTexts(changes: SessionChanges | undefined): RedactedTurn["changes"] {
  if (changes === undefined) return undefined;
  const { title: _title, task, style, kbs, model, controlModel, ledger, compacted, ...settings } = changes;
  const kept = {
    ...settings,
    ...(task === undefined ? {} : { task: null }),
    ...(style === undefined ? {} : { style: null }),
    ...(kbs === undefined ? {} : { kbs: null }),
    ...(model === undefined ? {} : { model: null }),
    ...(controlModel === undefined ? {} : { controlModel: null }),
    ...(ledger === undefined ? {} : { ledger: withoutWords(ledger) }),
    ...(compacted === undefined
      ? {}
      : { compacted: { sessionId: compacted.sessionId, turn: compacted.turn } }),
  };
  return Object.keys(kept).length === 0 ? undefined : kept;
}
