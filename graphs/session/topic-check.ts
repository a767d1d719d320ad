/** Asks the control model whether a message changes the topic, or goes back to an earlier one. */
import type { SessionDeps } from "#src/app/session-deps.ts";
import type { Chain, ChainEntry } from "#src/sessions/chain.ts";
import type { RolloverQuestion, TopicFinding } from "#src/sessions/decide-rollover.ts";
import { BUILT_IN } from "#src/sessions/rollover-policy.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { newestTurns } from "#src/sessions/transcript.ts";
import type { ControlCall, TurnRecord } from "#src/sessions/turn-record.ts";
import { controlCall } from "./prepare-turn.ts";
import { controlModelOf } from "./policy-of.ts";
import type { RunContext } from "./run-context.ts";

/** Turns that a classifier is shown. */
const RECENT_TURNS = 6;

/** What is asked about. */
export interface TopicSubject {
  readonly deps: SessionDeps;
  readonly run: RunContext;
  readonly chain: Chain;
  readonly session: SessionFields;
  readonly question: RolloverQuestion;
  readonly message: string;
}

/** What a classifier said, and the call of the control model where it was one. */
export interface AskedTopic extends TopicFinding {
  readonly call?: ControlCall;
}

/**
 * Does the message leave the topic of the session? Messages that are taken for the new topic already, but were not
 * confirmed, are no part of the old one.
 */
export async function askOfTopic(subject: TopicSubject): Promise<AskedTopic> {
  const { chain, message, question, run, session } = subject;
  const waiting = question.policy.semantic.confirmations - 1;
  const turns = await newestTurns(run.repository, chain, {
    sessionId: session.sessionId,
    count: RECENT_TURNS + waiting,
    latestTurns: session.turns,
    from: session.contextFrom,
  });
  const chats = turns.filter(({ kind }) => kind === "chat");
  const confirmed = Math.min(waiting, unconfirmedAtEnd(chats));
  const recent = userTexts(chats.slice(0, chats.length - confirmed));
  return { ...(await ask(subject, { recent, message })), confirmed };
}

/** Does what was said since a rollover, this message included, belong to the topic before it? */
export async function askOfOldTopic(subject: TopicSubject, previous: ChainEntry): Promise<AskedTopic> {
  const { chain, message, run, session } = subject;
  const { repository } = run;
  const count = RECENT_TURNS;
  const old = await newestTurns(repository, chain, { sessionId: previous.sessionId, count });
  const since = await repository.readTurns(session, { from: 1, to: session.turns });
  const said = [...userTexts(since), message].join("\n");
  return { ...(await ask(subject, { recent: userTexts(old), message: said })), confirmed: 0 };
}

async function ask(
  { deps, question, session }: TopicSubject,
  asked: { readonly recent: readonly string[]; readonly message: string },
): Promise<Omit<AskedTopic, "confirmed">> {
  const decidedBy = controlModelOf(deps, session);
  const classifier = deps.topics(decidedBy.model, { deadlineMs: question.policy.semantic.deadline });
  const begunMs = deps.clock.now();
  const evidence = await classifier.classify(asked);
  if (decidedBy.model === BUILT_IN || asked.recent.length === 0) return { decidedBy, evidence };
  const { model } = decidedBy;
  const { tokens, why } = { why: undefined, tokens: undefined, ...evidence };
  const call = controlCall(deps, {
    what: "topic",
    model,
    begunMs,
    ...(tokens === undefined ? {} : { tokens }),
    ...(why === undefined ? {} : { why }),
  });
  return { decidedBy, evidence, call };
}

/** Chat turns at the end, in a row, whose verdict was a change of topic that waits for confirmation. */
function unconfirmedAtEnd(chats: readonly TurnRecord[]): number {
  const settled = chats.findLastIndex(({ explanation: { verdict } }) => {
    return verdict?.action !== "stay" || verdict.semantic?.result !== "unconfirmed";
  });
  return chats.length - 1 - settled;
}

function userTexts(turns: readonly TurnRecord[]): string[] {
  return turns
    .filter(({ kind }) => kind === "chat")
    .flatMap(({ messages }) => messages.filter(({ role }) => role === "user").map(({ content }) => content));
}
