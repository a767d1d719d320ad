/** The routes that read: the caller's keys, the sessions of a key, their history, and whether all is as committed. */
import { z, type OpenAPIHono } from "@hono/zod-openapi";
import { refused } from "#src/kernel/envelope.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { entryOf, lineageOf, type Chain, type ChainEntry } from "#src/sessions/chain.ts";
import { isRedacted, wholeTurns } from "#src/sessions/redaction.ts";
import type { KeyRef, SessionRepository } from "#src/sessions/repository.ts";
import { parseSessionId } from "#src/sessions/session-key.ts";
import { callsOf } from "#src/sessions/call-receipt.ts";
import { knowledgeUnitSchema, unitsIn } from "#src/sessions/knowledge-units.ts";
import { turnRecordSchema, type TurnRecord } from "#src/sessions/turn-record.ts";
import { verifyOwner } from "#src/sessions/verify.ts";
import { Refusal } from "../problem.ts";
import { pageFields, pageQuerySchema, planPage } from "./page.ts";
import { keyParams, ownRoute, type HttpEnv, type RouteServices } from "./route.ts";

const keySchema = z
  .strictObject({
    sessionKey: z.string(),
    /** Session that takes the next message. */
    sessionId: z.string(),
    sessions: z.int(),
    /** Committed turns of all its sessions. */
    turns: z.int(),
    /** When the latest turn was committed, or the latest session opened. */
    lastActivityAt: z.string(),
  })
  .meta({ id: "Key" });

const keysSchema = z.strictObject({
  keys: z.array(keySchema),
  /** Keys that are stored but cannot be read; `lily verify` names what is wrong. */
  damaged: z.int(),
  ...pageFields,
});

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

const sessionsSchema = z.strictObject({
  sessionKey: z.string(),
  latest: z.string(),
  sessions: z.array(sessionViewSchema),
  ...pageFields,
});

const sessionSchema = z.strictObject({
  sessionKey: z.string(),
  session: sessionViewSchema,
  /** Committed turns. */
  turns: z.int(),
  /** The sessions whose turns it reads as its past, oldest first, itself last. */
  lineage: z.array(z.string()),
});

/** A turn without what only verification needs. */
const turnSchema = z
  .object(turnRecordSchema.shape)
  .omit({ v: true, textHash: true, salt: true, leaf: true, head: true })
  .extend({ units: z.array(knowledgeUnitSchema) })
  .meta({ id: "Turn" });

/** With the words of units and the calls as a whole, which the record has by their places. */
function turnView(turn: TurnRecord): z.infer<typeof turnSchema> {
  const { calls, ...explanation } = turn.explanation;
  const whole = calls === undefined ? {} : { calls: callsOf(turn.sessionId, calls) };
  return turnSchema.parse({ ...turn, units: unitsIn(turn), explanation: { ...explanation, ...whole } });
}

const historySchema = z.strictObject({
  sessionKey: z.string(),
  sessionId: z.string(),
  turns: z.array(turnSchema),
  /** Turns of the page that were erased, and when. */
  erased: z.array(z.strictObject({ turn: z.int(), erasedAt: z.string() })),
  ...pageFields,
});

const verifiedSchema = z.strictObject({
  ok: z.literal(true),
  sessions: z.int(),
  turns: z.int(),
  /** Turns and titles that were erased on request. */
  erased: z.strictObject({ turns: z.int(), titles: z.int() }),
});

export const sessionParams = keyParams.extend({ sessionId: z.string() });

const listKeys = ownRoute("get", "", {
  operationId: "listKeys",
  summary: "List your session keys, in the order in which they were first used",
  request: { query: pageQuerySchema },
  answer: keysSchema,
});

const listSessions = ownRoute("get", "/{key}/sessions", {
  operationId: "listSessions",
  summary: "List the sessions of a key, oldest first",
  request: { params: keyParams, query: pageQuerySchema },
  answer: sessionsSchema,
});

const showSession = ownRoute("get", "/{key}/sessions/{sessionId}", {
  operationId: "showSession",
  summary: "Show one session",
  request: { params: sessionParams },
  answer: sessionSchema,
});

const readHistory = ownRoute("get", "/{key}/sessions/{sessionId}/history", {
  operationId: "readHistory",
  summary: "Read the committed turns of a session, oldest first",
  request: { params: sessionParams, query: pageQuerySchema },
  answer: historySchema,
});

const verifyKey = ownRoute("get", "/{key}/verify", {
  operationId: "verifyKey",
  summary: "Check that every turn and seal of a key is as it was committed",
  description: "What is not is answered with code `verify_failed` and the findings in `data`.",
  request: { params: keyParams },
  answer: verifiedSchema,
});

export function addSessions(
  app: OpenAPIHono<HttpEnv>,
  { sessions: { repository } }: Pick<RouteServices, "sessions">,
): void {
  app.openapi(listKeys, async (context) => {
    let damaged = 0;
    const chains = await repository.listChains(context.var.caller.owner, () => void (damaged += 1));
    const { from, to, next } = planPage(context.req.valid("query"), chains.length);
    const shown = chains.slice(from - 1, Math.max(to, 0));
    const keys = await Promise.all(shown.map((chain) => keyView(repository, chain)));
    return context.json({ keys, damaged, total: chains.length, next }, 200);
  });
  app.openapi(listSessions, async (context) => {
    const { ref } = context.var;
    const chain = await requireChain(repository, ref);
    const total = chain.sessions.length;
    const { from, to, next } = planPage(context.req.valid("query"), total);
    const shown = chain.sessions.slice(from - 1, Math.max(to, 0));
    const sessions = shown.map((entry) => sessionView(chain, entry));
    return context.json({ sessionKey: ref.sessionKey, latest: chain.latest, sessions, total, next }, 200);
  });
  app.openapi(showSession, async (context) => {
    const { ref } = context.var;
    const { chain, entry } = await requireSession(repository, ref, context.req.valid("param").sessionId);
    const { sessionId, sealed } = entry;
    const turns = sealed?.turns ?? (await repository.lastStoredTurn({ ...ref, sessionId }));
    const [session, lineage] = [sessionView(chain, entry), lineageOf(chain, sessionId)];
    return context.json({ sessionKey: ref.sessionKey, session, turns, lineage }, 200);
  });
  app.openapi(readHistory, async (context) => {
    const { ref } = context.var;
    const { entry } = await requireSession(repository, ref, context.req.valid("param").sessionId);
    const { sessionId, sealed } = entry;
    const transcript = { ...ref, sessionId };
    const total = sealed?.turns ?? (await repository.lastStoredTurn(transcript));
    const { from, to, next } = planPage(context.req.valid("query"), total);
    const stored = from > to ? [] : await repository.readStoredTurns(transcript, { from, to });
    const erased = stored.filter(isRedacted).map(({ turn, redacted: { at } }) => ({ turn, erasedAt: at }));
    // Only what the schema names is shown of a turn.
    const turns = wholeTurns(stored).map(turnView);
    return context.json({ sessionKey: ref.sessionKey, sessionId, turns, erased, total, next }, 200);
  });
  app.openapi(verifyKey, async (context) => {
    const { ref } = context.var;
    await requireChain(repository, ref);
    const report = await verifyOwner(repository, ref.owner, ref.sessionKey);
    const { erased, ok, sessions, turns, problems } = report;
    if (ok) return context.json({ ok, sessions, turns, erased }, 200);
    throw new Refusal(
      refused("verify_failed", `${problems.length} found in ${sessions} sessions with ${turns} turns`, {
        next: "Restore the storage from a backup if it should be as it was (lily restore); lily doctor says what still works.",
        data: { ...report },
      }),
    );
  });
}

async function keyView(repository: SessionRepository, chain: Chain): Promise<z.infer<typeof keySchema>> {
  const { owner, sessionKey, latest: sessionId, sessions } = chain;
  const ref = { owner, sessionKey, sessionId };
  const open = await repository.lastStoredTurn(ref);
  const turns = sessions.reduce((sum, entry) => sum + (entry.sealed?.turns ?? 0), open);
  const last = open === 0 ? undefined : await repository.readStoredTurn(ref, open);
  const lastActivityAt = last?.at ?? sessions.at(-1)?.opened.at ?? "";
  return { sessionKey, sessionId, sessions: sessions.length, turns, lastActivityAt };
}

function sessionView(chain: Chain, entry: ChainEntry): SessionView {
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
