/** `decideRollover`: whether this session goes on or ends, by command, by time, by topic. */
import type { SessionDeps } from "#src/app/session-deps.ts";
import { type Chain, entryOf } from "#src/sessions/chain.ts";
import type { ChainEntry } from "#src/sessions/chain-entry.ts";
import { BUILT_IN } from "#src/sessions/rollover-policy.ts";
import {
  decideReversal,
  decideTopic,
  decideWithoutTopic,
  mayReverse,
  type RolloverQuestion,
  type TopicFinding,
  topicGate,
} from "#src/sessions/decide-rollover.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { newestTurns } from "#src/sessions/transcript.ts";
import type { ControlCall, TurnRecord } from "#src/sessions/turn-record.ts";
import type { StayVerdict, Verdict } from "#src/sessions/verdict.ts";
import { controlModelOf, policyOf } from "../policy-of.ts";
import { controlCall, withControlCalls } from "../prepare-turn.ts";
import { type NodeRuntime, readRunContext, requireChain, type RunContext } from "../run-context.ts";
import type { SessionStateValues, SessionUpdate, TurnInFlight } from "../state.ts";
import { requireTurn } from "../turn-messages.ts";

export function decideRollover(deps: SessionDeps) {
  return async (state: SessionStateValues, runtime: NodeRuntime): Promise<SessionUpdate> => {
    const { session, turn } = requireTurn(state);
    const { verdict, call } = await decide(deps, readRunContext(deps, runtime), { session, turn });
    return call === undefined
      ? { verdict }
      : { verdict, turn: { ...turn, ...withControlCalls(turn, [call]) } };
  };
}

interface Subject {
  readonly session: SessionFields;
  readonly turn: TurnInFlight;
}

/** The verdict, and the call of the control model that was made for it. */
interface Decision {
  readonly verdict: Verdict;
  readonly call?: ControlCall | undefined;
}

async function decide(deps: SessionDeps, run: RunContext, subject: Subject): Promise<Decision> {
  const { session, turn } = subject;
  // The transcript has a later turn, which this run, begun at an old checkpoint, must not write again.
  if (run.isFork && (await run.repository.readStoredTurn(session, session.turns + 1)) !== undefined)
    return { verdict: { action: "rotate", trigger: "replay", turns: session.turns } };
  const question = questionOf(deps, subject);
  const verdict = decideWithoutTopic(question);
  if (verdict.action === "rotate" || turn.command !== null || !question.policy.semantic.enabled)
    return { verdict };
  // Only the topic needs the chain: without the rule no turn reads it here.
  const chain = await requireChain(run, session);
  const asked = { ...question, ...lastSemantic(chain) };
  return decideByTopic({ stay: verdict, question: asked, deps, run, chain, session, message: turn.text });
}

function questionOf(deps: SessionDeps, { session, turn }: Subject): RolloverQuestion {
  return {
    nowMs: deps.clock.now(),
    clocks: session,
    turns: session.turns,
    policy: policyOf(deps, session),
    ...(turn.command?.rotates === true ? { hardCommand: `/${turn.command.name}` } : {}),
  };
}

/** The key's latest rollover by topic, or the reversal of one: neither is followed by another at once. */
function lastSemantic(chain: Chain): Pick<RolloverQuestion, "lastSemanticAt"> {
  const last = chain.sessions.findLast(({ opened }) => {
    const trigger = opened.verdict?.trigger;
    return trigger === "semantic" || trigger === "reversal";
  });
  return last === undefined ? {} : { lastSemanticAt: last.opened.at };
}

interface TopicDecision extends TopicSubject {
  readonly stay: StayVerdict;
  readonly question: RolloverQuestion;
}

/** One question to the classifier at most: does this undo a rollover, or is it one? */
async function decideByTopic(decision: TopicDecision): Promise<Decision> {
  const { stay, question, chain, session } = decision;
  const entry = entryOf(chain, session.sessionId);
  const previous = entryOf(chain, entry?.previous ?? "");
  if (previous !== undefined && mayReverse(question, entry?.opened.verdict)) {
    const { call, ...found } = await askOfOldTopic(decision, previous);
    return { verdict: decideReversal(stay, question, found), call };
  }
  const gate = topicGate(question);
  if (gate !== undefined) return { verdict: { ...stay, semantic: gate } };
  const { call, ...found } = await askOfTopic(decision);
  return { verdict: decideTopic(stay, question, found), call };
}

/** Turns that a classifier is shown. */
const RECENT_TURNS = 6;

/** What is asked about. */
interface TopicSubject {
  readonly deps: SessionDeps;
  readonly run: RunContext;
  readonly chain: Chain;
  readonly session: SessionFields;
  readonly question: RolloverQuestion;
  readonly message: string;
}

/** What a classifier said, and the call of the control model where it was one. */
interface AskedTopic extends TopicFinding {
  readonly call?: ControlCall;
}

/**
 * Does the message leave the topic of the session? Messages that are taken for the new topic already, but were not
 * confirmed, are no part of the old one.
 */
async function askOfTopic(subject: TopicSubject): Promise<AskedTopic> {
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
async function askOfOldTopic(subject: TopicSubject, previous: ChainEntry): Promise<AskedTopic> {
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
