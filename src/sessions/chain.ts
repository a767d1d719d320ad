/** The chain of a session key: all its sessions in order, which one is `latest`, how it grows, and which one a person means. Pure. */
import { z } from "zod";
import { LilyError } from "#src/kernel/errors.ts";
import {
  chainEntrySchema,
  type ChainEntry,
  coverParts,
  redactionSchema,
  sealedFacts,
} from "./chain-entry.ts";
import { sealOf } from "./seal.ts";
import type { Carried } from "./session-fields.ts";
import { assertNoBlankEnds } from "./session-key.ts";
import type { RotateVerdict } from "./verdict.ts";

export type { ChainEntry } from "./chain-entry.ts";

export const chainSchema = z.strictObject({
  v: z.literal(1),
  owner: z.string(),
  sessionKey: z.string(),
  /** Grows by one with every change. */
  revision: z.int().min(1),
  /** The one mutable session. */
  latest: z.string(),
  sessions: z.array(chainEntrySchema).min(1),
  /** What was erased, in order; absent while nothing was. */
  redactions: z.array(redactionSchema).optional(),
});

/** All sessions of a key. */
export type Chain = z.infer<typeof chainSchema>;

interface Opening {
  readonly sessionId: string;
  readonly at: string;
  readonly deliveryId: string;
  readonly textHash: string;
  /** Of what is left to answer of the text, where that is not all of it. */
  readonly leftHash?: string;
  /** Blob with the persona and the skills that it begins with. */
  readonly snapshot?: string | undefined;
}

/** What opens a key: its first session. */
export interface FirstSession extends Opening {
  readonly owner: string;
  readonly sessionKey: string;
}

/** A new chain with one session. @throws {LilyError} `session_key_invalid` when its owner or key ends in a blank */
export function openChain(first: FirstSession): Chain {
  const { owner, sessionKey, sessionId, at, deliveryId, textHash, snapshot, leftHash } = first;
  assertNoBlankEnds(owner, "owner");
  assertNoBlankEnds(sessionKey, "session key");
  const entry = { sessionId, ordinal: 1, previous: null, previousSeal: null, continues: [] };
  return {
    v: 1,
    owner,
    sessionKey,
    revision: 1,
    latest: sessionId,
    sessions: [{ ...entry, opened: { at, deliveryId, textHash, snapshot, leftHash } }],
  };
}

/** What a rotation needs to know of the session that ends and the one that begins. */
export interface Rotation extends Opening {
  readonly verdict: RotateVerdict;
  /** Turns and head of the transcript that is sealed. */
  readonly turns: number;
  readonly head: string;
  readonly carried: Carried;
  /** Title of the session that is sealed. */
  readonly title?: string | undefined;
  readonly continues?: readonly string[];
  readonly continuesUpTo?: Record<string, number>;
  /** A new salt with each call, for the parts of the sealed entry that may be erased one day; absent: they may not. */
  readonly salt?: () => string;
}

/** The chain after `latest` was sealed and a new session was opened behind it. */
export function rotateChain(chain: Chain, rotation: Rotation): Chain {
  const { sessionId, at, deliveryId, textHash, leftHash, snapshot, verdict, carried } = rotation;
  const { turns, head, title, salt, continues = [], continuesUpTo } = rotation;
  const ended = latestEntry(chain);
  const titled = title === undefined ? ended : { ...ended, title };
  const latest = salt === undefined ? titled : coverParts(titled, salt);
  const seal = sealEntry(chain, latest, rotation);
  const successor: ChainEntry = {
    sessionId,
    ordinal: latest.ordinal + 1,
    previous: latest.sessionId,
    previousSeal: seal,
    continues: [...continues],
    continuesUpTo,
    opened: { at, deliveryId, textHash, leftHash, verdict, snapshot, carried },
  };
  return {
    ...chain,
    revision: chain.revision + 1,
    latest: sessionId,
    sessions: [...chain.sessions.slice(0, -1), { ...latest, sealed: { at, turns, head, seal } }, successor],
  };
}

/** The seal of `entry` with its transcript as counted by `turns` and `head`, closed at `at`. */
export function sealEntry(
  chain: Pick<Chain, "owner" | "sessionKey">,
  entry: ChainEntry,
  closing: { readonly turns: number; readonly head: string; readonly at: string },
): string {
  const { owner, sessionKey } = chain;
  const { turns, head, at } = closing;
  return sealOf({ owner, sessionKey, turns, head, at, entry: sealedFacts(entry) });
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
    ({ opened }) =>
      opened.deliveryId === deliveryId && (opened.verdict !== undefined || opened.leftHash !== undefined),
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
  readonly upTo?: number | undefined;
}

/** The lineage with how far each part is read. */
export function readingOrder(chain: Chain, sessionId: string): LineagePart[] {
  const lineage: LineagePart[] = [];
  const visited = new Set<string>();
  const visit = (part: LineagePart): void => {
    // Also ends a chain that was damaged into a circle.
    if (visited.has(part.sessionId)) return;
    visited.add(part.sessionId);
    const { continues = [], continuesUpTo } = entryOf(chain, part.sessionId) ?? {};
    for (const earlier of continues) visit({ sessionId: earlier, upTo: continuesUpTo?.[earlier] });
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

/**
 * The session of `chain` that `reference` names: its ordinal, `previous`, or at least four characters of its id.
 *
 * @throws {LilyError} `session_not_found` or `session_ambiguous`, with what to type instead.
 */
export function findSessionByReference(chain: Chain, reference: string): ChainEntry {
  const wanted = reference.trim().replace(/^#/u, "").toLowerCase();
  const matches = matching(chain, wanted);
  if (matches.length === 1 && matches[0] !== undefined) return matches[0];
  if (matches.length === 0) {
    throw new LilyError(
      "session_not_found",
      `no session of this conversation is called ${JSON.stringify(reference)}`,
      {
        next: "/sessions lists them by number.",
      },
    );
  }
  const names = matches.map((entry) => `${entry.ordinal} (${entry.sessionId.slice(0, 8)})`).join(", ");
  throw new LilyError("session_ambiguous", `${JSON.stringify(reference)} could be any of ${names}`, {
    next: "Use the number, or more of the id.",
  });
}

function matching(chain: Chain, wanted: string): ChainEntry[] {
  if (wanted === "previous") {
    const latest = chain.sessions.at(-1);
    return chain.sessions.filter((entry) => entry.sessionId === latest?.previous);
  }
  if (/^\d{1,6}$/u.test(wanted)) {
    const byOrdinal = chain.sessions.filter((entry) => entry.ordinal === Number(wanted));
    if (byOrdinal.length > 0) return byOrdinal;
  }
  return wanted.length < 4 ? [] : chain.sessions.filter((entry) => entry.sessionId.startsWith(wanted));
}
