/** The chain of a session key: all its sessions in order, which one is `latest`, and how it grows. Pure. */
import { z } from "zod";
import { LilyError } from "#src/kernel/errors.ts";
import { sealOf } from "./seal.ts";
import { carriedSchema, type Carried } from "./session-fields.ts";
import { rotateVerdictSchema, type RotateVerdict } from "./verdict.ts";

/** How a session came to be. */
const openedSchema = z.strictObject({
  at: z.string(),
  /** The delivery that opened it, and the hash of its text. */
  deliveryId: z.string(),
  textHash: z.string(),
  /** Hash of the text that was left for the new session to answer; absent when there was none. */
  leftHash: z.string().optional(),
  /** Absent for the first session of a key. */
  verdict: rotateVerdictSchema.optional(),
  /** Preferences of the session before it. */
  carried: carriedSchema.optional(),
});

/** How a session was closed. */
const sealedSchema = z.strictObject({
  at: z.string(),
  turns: z.int(),
  /** Head of the transcript's hash chain at the time. */
  head: z.string(),
  seal: z.string(),
});

/** Schema of {@link ChainEntry}. */
export const chainEntrySchema = z.strictObject({
  sessionId: z.string(),
  /** Place in the chain, from 1. */
  ordinal: z.int().min(1),
  previous: z.string().nullable(),
  /** Seal of `previous`, so that a rewritten past shows. */
  previousSeal: z.string().nullable(),
  /** Sessions whose transcripts this one reads as its own past, oldest first. */
  continues: z.array(z.string()),
  /** Last turn that is read of a continued session, where that is not all of it. */
  continuesUpTo: z.record(z.string(), z.int()).optional(),
  opened: openedSchema,
  title: z.string().optional(),
  /** Present once the session is archived. */
  sealed: sealedSchema.optional(),
});

/** One session of a chain. */
export type ChainEntry = z.infer<typeof chainEntrySchema>;

/** Schema of {@link Chain}. */
export const chainSchema = z.strictObject({
  v: z.literal(1),
  owner: z.string(),
  sessionKey: z.string(),
  /** Grows by one with every change. */
  revision: z.int().min(1),
  /** The one mutable session. */
  latest: z.string(),
  sessions: z.array(chainEntrySchema).min(1),
});

/** All sessions of a key. */
export type Chain = z.infer<typeof chainSchema>;

/** What opens a key: its first session. */
export interface FirstSession {
  readonly owner: string;
  readonly sessionKey: string;
  readonly sessionId: string;
  readonly at: string;
  readonly deliveryId: string;
  readonly textHash: string;
}

/** A new chain with one session. */
export function openChain(first: FirstSession): Chain {
  const entry: ChainEntry = {
    sessionId: first.sessionId,
    ordinal: 1,
    previous: null,
    previousSeal: null,
    continues: [],
    opened: { at: first.at, deliveryId: first.deliveryId, textHash: first.textHash },
  };
  return {
    v: 1,
    owner: first.owner,
    sessionKey: first.sessionKey,
    revision: 1,
    latest: first.sessionId,
    sessions: [entry],
  };
}

/** What a rotation needs to know of the session that ends and the one that begins. */
export interface Rotation {
  readonly sessionId: string;
  readonly at: string;
  readonly deliveryId: string;
  readonly textHash: string;
  readonly leftHash?: string;
  readonly verdict: RotateVerdict;
  /** Turns and head of the transcript that is sealed. */
  readonly turns: number;
  readonly head: string;
  readonly carried: Carried;
  /** Title of the session that is sealed. */
  readonly title?: string | undefined;
  readonly continues?: readonly string[];
  readonly continuesUpTo?: Readonly<Record<string, number>>;
}

/** The chain after `latest` was sealed and a new session was opened behind it. */
export function rotateChain(chain: Chain, rotation: Rotation): Chain {
  const ended = latestEntry(chain);
  const latest = rotation.title === undefined ? ended : { ...ended, title: rotation.title };
  const seal = sealEntry(chain, latest, rotation);
  const sealed = { ...latest, sealed: { at: rotation.at, turns: rotation.turns, head: rotation.head, seal } };
  const successor: ChainEntry = {
    sessionId: rotation.sessionId,
    ordinal: latest.ordinal + 1,
    previous: latest.sessionId,
    previousSeal: seal,
    continues: [...(rotation.continues ?? [])],
    ...(rotation.continuesUpTo === undefined ? {} : { continuesUpTo: { ...rotation.continuesUpTo } }),
    opened: {
      at: rotation.at,
      deliveryId: rotation.deliveryId,
      textHash: rotation.textHash,
      ...(rotation.leftHash === undefined ? {} : { leftHash: rotation.leftHash }),
      verdict: rotation.verdict,
      carried: rotation.carried,
    },
  };
  return {
    ...chain,
    revision: chain.revision + 1,
    latest: successor.sessionId,
    sessions: [...chain.sessions.slice(0, -1), sealed, successor],
  };
}

/** The seal of `entry` with its transcript as counted by `turns` and `head`, closed at `at`. */
export function sealEntry(
  chain: Pick<Chain, "owner" | "sessionKey">,
  entry: ChainEntry,
  closing: { readonly turns: number; readonly head: string; readonly at: string },
): string {
  const { sealed: _sealed, ...facts } = entry;
  const { turns, head, at } = closing;
  return sealOf({ owner: chain.owner, sessionKey: chain.sessionKey, turns, head, at, entry: facts });
}

/** The entry of `latest`. @throws {LilyError} `record_invalid` when the chain points nowhere */
export function latestEntry(chain: Chain): ChainEntry {
  const entry = chain.sessions.at(-1);
  if (entry?.sessionId === chain.latest && entry.sealed === undefined) return entry;
  throw new LilyError(
    "record_invalid",
    `the chain of ${JSON.stringify(chain.sessionKey)} does not end in its latest session`,
    {
      next: "lily verify names what is wrong.",
    },
  );
}

/** The entry of a session, if the chain has it. */
export function entryOf(chain: Chain, sessionId: string): ChainEntry | undefined {
  return chain.sessions.find((entry) => entry.sessionId === sessionId);
}

/** The session that a delivery opened, if it opened one that is not the key's first. */
export function openedBy(chain: Chain, deliveryId: string): ChainEntry | undefined {
  return chain.sessions.find(
    (entry) => entry.opened.deliveryId === deliveryId && entry.opened.verdict !== undefined,
  );
}

/**
 * The sessions whose transcripts make up the past of `sessionId`, oldest first, itself last: what it continues, what
 * those continue, each once.
 */
export function lineageOf(chain: Chain, sessionId: string): string[] {
  return readingOrder(chain, sessionId).map((part) => part.sessionId);
}

/** A part of a session's past. */
export interface LineagePart {
  readonly sessionId: string;
  /** Last turn that is read; absent: all of them. */
  readonly upTo?: number;
}

/** The lineage with how far each part is read. */
export function readingOrder(chain: Chain, sessionId: string): LineagePart[] {
  const lineage: LineagePart[] = [];
  const visited = new Set<string>();
  const visit = (part: LineagePart): void => {
    // Also ends a chain that was damaged into a circle.
    if (visited.has(part.sessionId)) return;
    visited.add(part.sessionId);
    const entry = entryOf(chain, part.sessionId);
    for (const earlier of entry?.continues ?? []) {
      const upTo = entry?.continuesUpTo?.[earlier];
      visit({ sessionId: earlier, ...(upTo === undefined ? {} : { upTo }) });
    }
    lineage.push(part);
  };
  visit({ sessionId });
  return lineage;
}

/**
 * What a session has to continue so that nothing said in `earlier` and `current` is left behind, oldest first. A session
 * that a later one continues already is left out.
 */
export function continuationOf(chain: Chain, earlier: string, current: ChainEntry, turns: number): string[] {
  const ids = [earlier, ...(turns > 0 || current.continues.length > 0 ? [current.sessionId] : [])];
  return ids.filter(
    (id, index) => !ids.slice(index + 1).some((later) => lineageOf(chain, later).includes(id)),
  );
}
