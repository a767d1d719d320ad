/** The ports through which sessions are stored, every write of one item, and what is too big for a message, once by its content. */
import { z } from "zod";
import type { Chain } from "./chain.ts";
import type { StoredTurn } from "./redaction.ts";
import { callReceiptSchema } from "./call-receipt.ts";
import { explanationSchema, failedAttemptSchema, type TurnRecord } from "./turn-record.ts";

/** Names a transcript. */
export interface TranscriptRef {
  readonly owner: string;
  readonly sessionKey: string;
  readonly sessionId: string;
}

/** Names a chain. */
export const keyRefSchema = z.object({ owner: z.string(), sessionKey: z.string() });
export type KeyRef = Readonly<z.infer<typeof keyRefSchema>>;

/** Where a delivery went: the session whose transcript has, or will have, its turn. */
export const pointerSchema = z.object({
  sessionId: z.string(),
  /** Number of its turn; `null` when it was handed to a session that had not answered it yet. */
  turn: z.int().nullable(),
});
export type DeliveryPointer = Readonly<z.infer<typeof pointerSchema>>;

/** A turn that failed: the only place where the user's text of it is kept. */
export const failedTurnSchema = z.object({
  sessionId: z.string(),
  deliveryId: z.string(),
  requestId: z.string(),
  at: z.string(),
  code: z.string(),
  message: z.string(),
  /** Node in which it failed. */
  node: z.string(),
  text: z.string(),
  /** The newest calls of models that failed in it, oldest first. */
  attempts: z.array(failedAttemptSchema).readonly().optional(),
  startedAt: z.string().optional(),
  /** Tools that its model asked for, and what the call that failed was to be given. */
  tools: z.array(z.string()).optional(),
  plan: callReceiptSchema.optional(),
  /** How far it had come, as in the explanation of a turn. */
  ...explanationSchema.pick({
    verdict: true,
    receipt: true,
    calls: true,
    controlCalls: true,
    recalled: true,
    limit: true,
    steps: true,
    plugins: true,
  }).shape,
});
export type FailedTurn = Readonly<z.infer<typeof failedTurnSchema>>;

/** A stored item that is not what it should be. */
export interface DamagedItem {
  /** Namespace and key of the item, joined with "/". */
  readonly where: string;
  readonly problem: string;
}

/** Where a turn stands that was found by its words. */
export interface FoundTurn {
  readonly sessionId: string;
  readonly turn: number;
  /** Above 0; more is better; comparable within one search only. */
  readonly score: number;
}

/** Reads and writes of chains, transcripts, deliveries and explanations. */
export interface SessionRepository {
  /** The chain of a key, `undefined` when the key was never used. @throws `record_invalid` */
  readChain(ref: KeyRef): Promise<Chain | undefined>;
  /** Puts the chain: the commit point of opening and rotating. */
  writeChain(chain: Chain): Promise<void>;
  /**
   * All chains of an owner, in the order in which their keys were first used.
   *
   * @param onDamaged told of each chain that cannot be read; without it the first one is thrown as `record_invalid`
   */
  listChains(owner: string, onDamaged?: (damaged: DamagedItem) => void): Promise<Chain[]>;

  /** Owner and key of a session, `undefined` when it is not known. */
  findSession(sessionId: string): Promise<KeyRef | undefined>;
  /** Remembers owner and key of a session. Idempotent; written before the chain that holds the session. */
  indexSession(sessionId: string, ref: KeyRef): Promise<void>;

  /**
   * One turn of a transcript, `undefined` also when it was erased.
   *
   * @throws `record_invalid` when what is stored is not a turn record
   */
  readTurn(ref: TranscriptRef, turn: number): Promise<TurnRecord | undefined>;
  /** As `readTurn`; of a turn that was erased, its mark. Whoever asks whether a number is taken asks this. */
  readStoredTurn(ref: TranscriptRef, turn: number): Promise<StoredTurn | undefined>;
  /** Transcripts of an owner that belong to no session of `chains`, by where they are stored. */
  orphanTranscripts(owner: string, chains: readonly Chain[]): Promise<string[]>;
  /** Highest number that a stored turn of the transcript has, 0 when there is none; finds turns beyond a gap. */
  lastStoredTurn(ref: TranscriptRef): Promise<number>;
  /** Turns `from` to `to`, both included, in order; numbers without a record, or whose turn was erased, are left out. */
  readTurns(ref: TranscriptRef, range: { readonly from: number; readonly to: number }): Promise<TurnRecord[]>;
  /** As `readTurns`, with the marks of turns that were erased. */
  readStoredTurns(
    ref: TranscriptRef,
    range: { readonly from: number; readonly to: number },
  ): Promise<StoredTurn[]>;
  /**
   * Puts the record, the commit point of a turn; before it, or with it in one transaction, where its deliveries went.
   * Without the record those point to nothing and count as not handled. The turn is not in flight any more.
   */
  writeTurn(ref: TranscriptRef, record: TurnRecord): Promise<void>;
  /** Where turns of the key stand that share words with `query`, best first; none of them was erased. */
  searchTurns(ref: KeyRef, query: string, limit: number): Promise<FoundTurn[]>;

  /** Where a delivery went, `undefined` when it was never seen. */
  readDelivery(ref: KeyRef, deliveryId: string): Promise<DeliveryPointer | undefined>;
  /** Remembers where a delivery goes. Idempotent; written before the turn or chain it points to. */
  writeDelivery(ref: KeyRef, deliveryId: string, pointer: DeliveryPointer): Promise<void>;

  /** Keeps the explanation of a failed turn; the oldest of a session are dropped beyond 20. */
  writeFailure(ref: TranscriptRef, failure: FailedTurn): Promise<void>;
  /** Failed turns of a session, oldest first. */
  readFailures(ref: TranscriptRef): Promise<FailedTurn[]>;

  /**
   * Replaces the bodies of turns by marks that they were erased. The key's chain lists them first, so that a crash in
   * between shows; doing it again finishes it. Turns that are not stored are passed over. The caller holds the key's
   * lock: the chain is read and put, and a turn that runs meanwhile would overwrite it or be overwritten.
   *
   * @param at ISO instant of the erasure
   * @returns how many bodies were replaced by this call
   */
  redactTurns(
    ref: KeyRef,
    turns: readonly { readonly sessionId: string; readonly turn: number }[],
    at: string,
  ): Promise<{ redacted: number }>;
}

/** What is stored under a hash. */
export interface Blob {
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** What persona and skills of a session are stored as: they are named by sessions, and no turn says them. */
export const FROZEN_TYPE = "application/vnd.lily.frozen";

/** Content beside conversations, to be read. */
export interface BlobReader {
  /** `undefined` when the owner has nothing of that hash. @throws {LilyError} `record_invalid` for a damaged item */
  read(owner: string, sha256: string): Promise<Blob | undefined>;
}

/** Content beside conversations. What is stored under a hash never changes. */
export interface BlobStore extends BlobReader {
  /** Stores the content unless it is there, and gives its hash. */
  keep(owner: string, blob: Blob): Promise<string>;
}
