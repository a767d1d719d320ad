/** Sessions as the routes show them. */
import { z } from "zod";
import { entryOf, type Chain, type ChainEntry } from "#src/sessions/chain.ts";
import { LilyError } from "#src/kernel/errors.ts";
import type { KeyRef, SessionRepository } from "#src/sessions/repository.ts";
import { parseSessionId } from "#src/sessions/session-key.ts";

/** Schema of {@link SessionView}. */
export const sessionViewSchema = z
  .strictObject({
    sessionId: z.string(),
    /** Place in the chain, from 1. */
    ordinal: z.int(),
    /** The one that takes the next message. */
    latest: z.boolean(),
    previous: z.string().nullable(),
    /** Sessions that it reads as its own past, oldest first. */
    continues: z.array(z.string()),
    openedAt: z.string(),
    /** What ended the session before it: `idle`, `dayBoundary`, `command` and so on; `null` for the first one. */
    openedBy: z.string().nullable(),
    /** As the user called it; that of the open session is part of its status. */
    title: z.string().nullable(),
    /** Present once it is archived. */
    sealed: z.strictObject({ at: z.string(), turns: z.int(), seal: z.string() }).nullable(),
  })
  .meta({ id: "Session" });

/** A session as it is shown. */
export type SessionView = z.infer<typeof sessionViewSchema>;

/** What the chain tells of a session. */
export function sessionView(chain: Chain, entry: ChainEntry): SessionView {
  const { sealed } = entry;
  return {
    sessionId: entry.sessionId,
    ordinal: entry.ordinal,
    latest: entry.sessionId === chain.latest,
    previous: entry.previous,
    continues: [...entry.continues],
    openedAt: entry.opened.at,
    openedBy: entry.opened.verdict?.trigger ?? null,
    title: entry.title ?? null,
    sealed: sealed === undefined ? null : { at: sealed.at, turns: sealed.turns, seal: sealed.seal },
  };
}

/** The chain of a key. @throws {LilyError} `session_not_found` when the key was never used */
export async function requireChain(repository: SessionRepository, ref: KeyRef): Promise<Chain> {
  const chain = await repository.readChain(ref);
  if (chain !== undefined) return chain;
  throw new LilyError("session_not_found", "there is no conversation under this key", {
    next: "GET /lily/v1/keys lists your keys; the first message opens one.",
  });
}

/**
 * A session of a key. One of another key or owner is told from one that does not exist by nothing.
 *
 * @throws {LilyError} `session_id_invalid`, `session_not_found`
 */
export async function requireSession(
  repository: SessionRepository,
  ref: KeyRef,
  id: string,
): Promise<{ readonly chain: Chain; readonly entry: ChainEntry }> {
  const sessionId = parseSessionId(id);
  const chain = await repository.readChain(ref);
  const entry = chain === undefined ? undefined : entryOf(chain, sessionId);
  if (chain !== undefined && entry !== undefined) return { chain, entry };
  throw new LilyError("session_not_found", `there is no session ${sessionId} under this key`, {
    next: "GET /lily/v1/keys/{key}/sessions lists those of a key.",
  });
}
