/**
 * The straight way of a turn: a step of the graph costs more than most of Lily's nodes, so nodes that ask nobody and
 * leave by one way run in the step before theirs, by their own rules. What is not plain takes its own step, also what
 * fails on the straight way, so that it fails where its failure is explained.
 */
import type { SessionDeps } from "#src/app/session-deps.ts";
import type { Chain } from "#src/sessions/chain.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import type { BegunTurn } from "./begin-turn.ts";
import { afterSolver } from "./edges.ts";
import { commit } from "./nodes/commit.ts";
import { decideAtOnce } from "./nodes/decide-rollover.ts";
import { prepare } from "./nodes/prepare-turn.ts";
import { stateAfter } from "./routed.ts";
import { readRunContext, type NodeRuntime, type RunContext } from "./run-context.ts";
import type { SessionStateValues, SessionUpdate } from "./state.ts";
import type { Solved } from "./turn-draft.ts";

/** Takes a turn that has just begun past `decideRollover` and `prepareTurn`, where its session goes on. */
export async function prepareAtOnce(
  deps: SessionDeps,
  run: RunContext,
  {
    session,
    chain,
    begun,
  }: { readonly session: SessionFields; readonly chain: Chain; readonly begun: BegunTurn },
): Promise<SessionUpdate> {
  const { turn } = begun;
  if (deps.goesStraightOn !== true || turn.command !== null) return begun;
  try {
    const verdict = decideAtOnce(deps, run, { session, turn });
    if (verdict?.action !== "stay") return begun;
    const prepared = await prepare(deps, run, { session, turn, chain });
    return { ...begun, ...prepared, verdict, messages: [...begun.messages, ...prepared.messages] };
  } catch {
    return begun;
  }
}

/** The same goal solver, which commits the turn that it has answered. */
export function committedAtOnce<Runtime extends NodeRuntime>(
  deps: SessionDeps,
  solver: (state: SessionStateValues, runtime: Runtime) => Promise<Solved>,
): (state: SessionStateValues, runtime: Runtime) => Promise<SessionUpdate> {
  if (deps.goesStraightOn !== true) return solver;
  const commitTurn = commit(deps);
  return async (state, runtime) => {
    const solved = await solver(state, runtime);
    const after = stateAfter(state, solved);
    if (afterSolver(after) !== "commit" || readRunContext(deps, runtime).isReplay) return solved;
    try {
      const committed = await commitTurn(after, runtime);
      return { ...solved, ...committed, messages: [...solved.messages, ...committed.messages] };
    } catch {
      return solved;
    }
  };
}
