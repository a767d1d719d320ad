/** `decideRollover`: whether this session goes on or ends, by command, by time, by topic. */
import {
  decideTopic,
  decideWithoutTopic,
  topicGate,
  type RolloverQuestion,
} from "#src/sessions/decide-rollover.ts";
import type { Chain } from "#src/sessions/chain.ts";
import type { Verdict } from "#src/sessions/verdict.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { newestTurns } from "#src/sessions/transcript.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { policyOf } from "../policy-of.ts";
import { readRunContext, type NodeRuntime, type RunContext } from "../run-context.ts";
import { requireTurn } from "../require.ts";
import type { SessionStateValues, SessionUpdate, TurnInFlight } from "../state.ts";

/** Turns that a topic classifier is shown. */
const RECENT_TURNS = 6;

/** Makes the node. */
export function decideRollover(deps: SessionDeps) {
  return async (state: SessionStateValues, runtime: NodeRuntime): Promise<SessionUpdate> => {
    const { session, turn } = requireTurn(state);
    const run = readRunContext(deps, runtime);
    const question = await questionOf(deps, run, { session, turn });
    const verdict = await decide(deps, run, { question, session, turn });
    return { verdict };
  };
}

interface Subject {
  readonly session: SessionFields;
  readonly turn: TurnInFlight;
}

async function questionOf(
  deps: SessionDeps,
  run: RunContext,
  { session, turn }: Subject,
): Promise<RolloverQuestion> {
  const policy = policyOf(deps, session);
  const last = policy.semantic.enabled ? lastSemantic(await run.repository.readChain(session)) : undefined;
  return {
    nowMs: deps.clock.now(),
    clocks: session,
    turns: session.turns,
    policy,
    ...(turn.command?.rotates === true ? { hardCommand: `/${turn.command.name}` } : {}),
    ...(last === undefined ? {} : { lastSemanticAt: last }),
  };
}

function lastSemantic(chain: Chain | undefined): string | undefined {
  return chain?.sessions.findLast((entry) => entry.opened.verdict?.trigger === "semantic")?.opened.at;
}

async function decide(
  deps: SessionDeps,
  run: RunContext,
  { question, session, turn }: Subject & { readonly question: RolloverQuestion },
): Promise<Verdict> {
  const verdict = decideWithoutTopic(question);
  if (verdict.action === "rotate" || turn.command !== null) return verdict;
  const gate = topicGate(question);
  if (gate !== undefined) return gate.result === "off" ? verdict : { ...verdict, semantic: gate };
  const chain = await run.repository.readChain(session);
  const turns =
    chain === undefined
      ? []
      : await newestTurns(run.repository, chain, {
          sessionId: session.sessionId,
          count: RECENT_TURNS,
          latestTurns: session.turns,
        });
  const recent = turns.flatMap((record) =>
    record.messages.filter(({ role }) => role === "user").map(({ content }) => content),
  );
  return decideTopic(verdict, question, await deps.topics.classify({ recent, message: turn.text }));
}
