/** Lily in this process: the real graph on SQLite files of its own, with the puppet model and a clock that is moved. */
import { createHarness, OWNER, type Harness } from "#graphs/session/testing/harness.ts";
import type { RecordedMessage } from "#src/models/scripted-record.ts";
import type { Chain, ChainEntry } from "#src/sessions/chain.ts";
import { countTurns } from "#src/sessions/transcript.ts";
import type { TurnRecord } from "#src/sessions/turn-record.ts";
import { verifyOwner, type VerifyProblem } from "#src/sessions/verify.ts";
import type { TurnReply } from "#src/turns/turn-reply.ts";
import { createPuppetModel } from "./puppet-model.ts";
import type { HistoryTurn, ModelMessage, Runner, SentReply, SessionSummary } from "./runner.ts";

/** Opens a runner on a folder of its own, which closing removes. */
export async function openInProcessRunner(): Promise<Runner> {
  const model = createPuppetModel();
  const harness = await createHarness({ model });
  return {
    name: "in-process",
    can: { clock: true, modelInputs: true, puppetModel: true, restart: true },
    send: async (sessionKey, text, options = {}) =>
      replyOf(await harness.send(text, { sessionKey, ...options })),
    history: (sessionId) => historyOf(harness, sessionId),
    sessions: (key) => sessionsOf(harness, key),
    async verify(key) {
      const report = await verifyOwner(harness.sessions.repository, OWNER, key);
      return { ok: report.ok, problems: report.problems.map(problemText) };
    },
    now: () => harness.clock.now(),
    advanceClock: (ms) => harness.clock.advance(ms),
    modelInputs: () => model.calls.map((call) => call.messages.map(modelMessage)),
    restart: () => harness.restart(),
    close: () => harness.close(),
  };
}

function replyOf(reply: TurnReply): SentReply {
  const { announcement, envelope, outcome, repeated, sessionId } = reply;
  return {
    text: envelope.message,
    code: envelope.code,
    outcome,
    sessionId,
    repeated,
    ...(announcement === undefined ? {} : { announcement }),
  };
}

async function historyOf(harness: Harness, sessionId: string): Promise<HistoryTurn[]> {
  const ref = await harness.sessions.repository.findSession(sessionId);
  if (ref === undefined) return [];
  return (await harness.turns(sessionId, ref.sessionKey)).map(turnOf);
}

function turnOf({ turn, kind, messages, explanation, head }: TurnRecord): HistoryTurn {
  return {
    turn,
    kind,
    messages: messages.map(({ role, content }) => ({ role, content })),
    givenSessions: (explanation.receipt?.turns ?? []).map((range) => range.sessionId),
    recalled: (explanation.recalled ?? []).map(({ sessionId, rationale }) => ({ sessionId, rationale })),
    head,
  };
}

async function sessionsOf(harness: Harness, sessionKey: string): Promise<SessionSummary[]> {
  const chain = await harness.sessions.repository.readChain({ owner: OWNER, sessionKey });
  if (chain === undefined) return [];
  return Promise.all(chain.sessions.map((entry) => summaryOf(harness, chain, entry)));
}

async function summaryOf(harness: Harness, chain: Chain, entry: ChainEntry): Promise<SessionSummary> {
  const { continues, ordinal, previous, sealed, sessionId } = entry;
  const { owner, sessionKey } = chain;
  return {
    ordinal,
    sessionId,
    latest: sessionId === chain.latest,
    sealed: sealed !== undefined,
    seal: sealed?.seal ?? null,
    turns: sealed?.turns ?? (await countTurns(harness.sessions.repository, { owner, sessionKey, sessionId })),
    reason: entry.opened.verdict?.trigger ?? "first",
    previous,
    continues,
  };
}

function problemText({ ordinal, turn, problem }: VerifyProblem): string {
  return `session ${ordinal}${turn === null ? "" : `, turn ${turn}`}: ${problem}`;
}

function modelMessage({ type, content }: RecordedMessage): ModelMessage {
  return { type, text: typeof content === "string" ? content : JSON.stringify(content) };
}
