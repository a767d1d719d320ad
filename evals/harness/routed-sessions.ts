/** Sessions through Lily's routes (`/lily/v1`), as a client meets them. */
import { createHash, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { turnRecordSchema } from "#src/sessions/turn-record.ts";
import { problemSchema, type Problem } from "#src/server/problem.ts";
import { sessionViewSchema, type SessionView } from "#src/server/routes/sessions.ts";
import { turnReplySchema } from "#src/turns/turn-reply.ts";
import type { HistoryTurn, SentReply, SessionSummary, VerifyResult } from "./runner.ts";
import { sentReply, turnOf, type RemoteSessions } from "./stored-sessions.ts";

const sessionsSchema = z.object({ sessions: z.array(sessionViewSchema), next: z.int().nullable() });
const sessionSchema = z.object({ turns: z.int() });
const { turn, kind, messages, explanation } = turnRecordSchema.shape;
const historySchema = z.object({
  turns: z.array(z.looseObject({ turn, kind, messages, explanation })),
  next: z.int().nullable(),
});
const findingsSchema = z.object({ problems: z.array(z.unknown()) });

/** Longest page that the routes give. */
const PAGE = 200;

/** Wait after a 429 that names none; a few of them are more than the minute that the limit is about. */
const PAUSE_SECONDS = 20;
const ATTEMPTS = 5;

/** An answer: what was asked for, or why not. */
type Answer =
  | { readonly ok: true; readonly body: unknown }
  | { readonly ok: false; readonly problem: Problem };

type Ask = (path: string, body?: object) => Promise<Answer>;

/** Connects to the routes at `url`. */
export function routedSessions(url: string, apiKey: string | undefined): RemoteSessions {
  const ask: Ask = (path, body) => request(`${url}/lily/v1${path}`, apiKey, body);
  // A history is read under the key of its session, which a case does not say again.
  const keys = new Map<string, string>();
  const remember = (key: string, sessionId: string): void => void keys.set(sessionId, key);
  return {
    ready: async () => void must(await ask("/ready")),
    async send(key, content, { deliveryId = randomUUID() } = {}) {
      const reply = replyOf(await ask(`${keyPath(key)}/messages`, { content, deliveryId }));
      remember(key, reply.sessionId);
      return reply;
    },
    async sessions(key) {
      const sessions = await sessionsOf(ask, key);
      for (const { sessionId } of sessions) remember(key, sessionId);
      return sessions;
    },
    async history(sessionId) {
      const key = keys.get(sessionId);
      return key === undefined ? [] : historyOf(ask, `${keyPath(key)}/sessions/${sessionId}`);
    },
    verify: async (key) => verifiedOf(await ask(`${keyPath(key)}/verify`)),
  };
}

const keyPath = (key: string): string => `/keys/${encodeURIComponent(key)}`;

async function request(url: string, apiKey: string | undefined, body?: object): Promise<Answer> {
  for (let attempt = 1; ; attempt += 1) {
    const response = await fetch(url, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        "content-type": "application/json",
        ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    if (response.ok) return { ok: true, body: answer };
    if (response.status !== 429 || attempt === ATTEMPTS)
      return { ok: false, problem: problemSchema.parse(answer) };
    await sleep(1000 * Number(response.headers.get("retry-after") ?? PAUSE_SECONDS));
  }
}

/** @throws the problem as an error, where a case has no use for it */
function must(answer: Answer): unknown {
  if (answer.ok) return answer.body;
  throw new Error(`${answer.problem.code}: ${answer.problem.detail}`);
}

function replyOf(answer: Answer): SentReply {
  if (answer.ok) return sentReply(turnReplySchema.parse(answer.body));
  const { code, detail, reply } = answer.problem;
  return reply === undefined
    ? { text: detail, code, outcome: "refused", sessionId: "", repeated: false }
    : sentReply(reply);
}

async function sessionsOf(ask: Ask, key: string): Promise<SessionSummary[]> {
  const found: SessionView[] = [];
  for (let from: number | null = 1; from !== null;) {
    const answer = await ask(`${keyPath(key)}/sessions?from=${from}&limit=${PAGE}`);
    // A key that was never used has none.
    if (!answer.ok && answer.problem.code === "session_not_found") return [];
    const page: z.infer<typeof sessionsSchema> = sessionsSchema.parse(must(answer));
    found.push(...page.sessions);
    from = page.next;
  }
  return Promise.all(found.map((session) => summaryOf(ask, key, session)));
}

async function summaryOf(ask: Ask, key: string, session: SessionView): Promise<SessionSummary> {
  const { continues, latest, openedBy, ordinal, previous, sealed, sessionId } = session;
  const turns =
    sealed?.turns ?? sessionSchema.parse(must(await ask(`${keyPath(key)}/sessions/${sessionId}`))).turns;
  return {
    ordinal,
    sessionId,
    latest,
    sealed: sealed !== null,
    seal: sealed?.seal ?? null,
    turns,
    reason: openedBy ?? "first",
    previous,
    continues,
  };
}

/** The routes do not show the hashes of turns, so a hash of all that they show stands for them. */
async function historyOf(ask: Ask, path: string): Promise<HistoryTurn[]> {
  const found: HistoryTurn[] = [];
  const hash = createHash("sha256");
  for (let from: number | null = 1; from !== null;) {
    const answer = await ask(`${path}/history?from=${from}&limit=${PAGE}`);
    const page: z.infer<typeof historySchema> = historySchema.parse(must(answer));
    for (const shown of page.turns) {
      hash.update(JSON.stringify(shown));
      found.push(turnOf({ ...shown, head: hash.copy().digest("hex") }));
    }
    from = page.next;
  }
  return found;
}

function verifiedOf(answer: Answer): VerifyResult {
  if (answer.ok) return { ok: true, problems: [] };
  // A key that was never used has nothing to prove.
  if (answer.problem.code === "session_not_found") return { ok: true, problems: [] };
  const findings = findingsSchema.safeParse(answer.problem.data);
  const problems = findings.success ? findings.data.problems.map((found) => JSON.stringify(found)) : [];
  return { ok: false, problems: problems.length === 0 ? [answer.problem.detail] : problems };
}
