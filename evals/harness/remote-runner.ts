/** Lily on a server (`lily serve`) by its URL, through Lily's routes (`/lily/v1`), with the server's own model and clock. */
import { createHash, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { errorMessage } from "#src/kernel/errors.ts";
import { turnRecordSchema } from "#src/sessions/turn-record.ts";
import { problemSchema, type Problem } from "#src/server/problem.ts";
import { sessionViewSchema, type SessionView } from "#src/server/routes/sessions.ts";
import { turnReplySchema } from "#src/turns/turn-reply.ts";
import type {
  HistoryTurn,
  Runner,
  RunnerOptions,
  SentReply,
  SessionSummary,
  VerifyResult,
} from "./runner.ts";
import { sentReply, turnOf } from "./stored-sessions.ts";

/** Where `lily serve` listens. */
const DEFAULT_URL = "http://127.0.0.1:2025";

const pageSchema = z.looseObject({ next: z.int().nullable() });
const sessionsSchema = z.object({ sessions: z.array(sessionViewSchema) });
const sessionSchema = z.object({ turns: z.int() });
const { sessionId, turn, kind, messages, explanation } = turnRecordSchema.shape;
const historySchema = z.object({
  turns: z.array(z.looseObject({ sessionId, turn, kind, messages, explanation })),
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

/** Opens a runner over the server's routes. @throws an error that names the URL when nothing answers there */
export async function openRemoteRunner({ apiKey, url = DEFAULT_URL }: RunnerOptions): Promise<Runner> {
  const ask: Ask = (path, body) => request(`${url}/lily/v1${path}`, apiKey, body);
  try {
    must(await ask("/ready"));
  } catch (error) {
    throw new Error(`the server at ${url} does not answer: ${errorMessage(error)}`, { cause: error });
  }
  // A history is read under the key of its session, which a case does not say again.
  const keys = new Map<string, string>();
  return {
    name: "remote",
    can: {},
    async send(key, content, { deliveryId = randomUUID() } = {}) {
      const reply = replyOf(await ask(`${keyPath(key)}/messages`, { content, deliveryId }));
      keys.set(reply.sessionId, key);
      return reply;
    },
    async sessions(key) {
      const sessions = await sessionsOf(ask, key);
      for (const { sessionId } of sessions) keys.set(sessionId, key);
      return sessions;
    },
    async history(sessionId) {
      const key = keys.get(sessionId);
      return key === undefined ? [] : historyOf(ask, `${keyPath(key)}/sessions/${sessionId}`);
    },
    verify: async (key) => verifiedOf(await ask(`${keyPath(key)}/verify`)),
    now: () => Date.now(),
    advanceClock: () => cannot("move the server's clock"),
    modelInputs: () => cannot("see what the server's model was given"),
    restart: () => cannot("restart the server"),
    judge: () => cannot("tell the server's control model what to say"),
    close: async () => undefined,
  };
}

function cannot(what: string): never {
  throw new Error(`a remote runner cannot ${what}`);
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
  // A key that was never used has none.
  const pages = await pagesOf(ask, `${keyPath(key)}/sessions`, "session_not_found");
  const found = pages.flatMap((page) => sessionsSchema.parse(page).sessions);
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
  const hash = createHash("sha256");
  const pages = await pagesOf(ask, `${path}/history`);
  return pages.flatMap((page) =>
    historySchema.parse(page).turns.map((shown) => {
      hash.update(JSON.stringify(shown));
      return turnOf({ ...shown, head: hash.copy().digest("hex") });
    }),
  );
}

/** All pages of a list; none where the answer to the first is the problem `none`. */
async function pagesOf(ask: Ask, path: string, none?: string): Promise<unknown[]> {
  const pages: unknown[] = [];
  for (let from: number | null = 1; from !== null;) {
    const answer = await ask(`${path}?from=${from}&limit=${PAGE}`);
    if (!answer.ok && answer.problem.code === none) return [];
    const page: z.infer<typeof pageSchema> = pageSchema.parse(must(answer));
    pages.push(page);
    from = page.next;
  }
  return pages;
}

function verifiedOf(answer: Answer): VerifyResult {
  if (answer.ok) return { ok: true, problems: [] };
  // A key that was never used has nothing to prove.
  if (answer.problem.code === "session_not_found") return { ok: true, problems: [] };
  const findings = findingsSchema.safeParse(answer.problem.data);
  const problems = findings.success ? findings.data.problems.map((found) => JSON.stringify(found)) : [];
  return { ok: false, problems: problems.length === 0 ? [answer.problem.detail] : problems };
}
