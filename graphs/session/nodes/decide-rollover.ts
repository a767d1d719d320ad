/** `decideRollover`: whether this session goes on or ends, by command, by time, by topic. */
import {
  decideReversal,
  decideTopic,
  decideWithoutTopic,
  mayReverse,
  topicGate,
  type RolloverQuestion,
} from "#src/sessions/decide-rollover.ts";
import { entryOf, type Chain } from "#src/sessions/chain.ts";
import type { StayVerdict, Verdict } from "#src/sessions/verdict.ts";
import type { ControlCall } from "#src/sessions/turn-record.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { policyOf } from "../policy-of.ts";
import { withControlCalls } from "../prepare-turn.ts";
import { readRunContext, requireChain, type NodeRuntime, type RunContext } from "../run-context.ts";
import type { SessionStateValues, SessionUpdate, TurnInFlight } from "../state.ts";
import { requireTurn } from "../turn-messages.ts";
import { askOfOldTopic, askOfTopic, type TopicSubject } from "../topic-check.ts";

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
