/**
 * The straight way of a turn: a step of the graph costs more than most of Lily's nodes, so nodes that ask nobody and
 * leave by one way run in the step before theirs, by their own rules; so does a model that answers at once. What is not
 * plain takes its own step, also what fails on the straight way, so that it fails where its failure is explained.
 */
import type { SessionDeps } from "#src/app/session-deps.ts";
import type { CallRuntime } from "./ask-model.ts";
import { afterCommit, afterDecision, afterSolver, toSolver } from "./edges.ts";
import { commit } from "./nodes/commit.ts";
import { stayAtOnce } from "./nodes/decide-rollover.ts";
import { prepareTurn } from "./nodes/prepare-turn.ts";
import { solveSymbolically } from "./nodes/solve-symbolically.ts";
import { messagesIn, reachedBy, reaching, type Edge, type Node, type Reached } from "./routed.ts";
import { readRunContext } from "./run-context.ts";
import type { SessionStateValues, SessionUpdate } from "./state.ts";

/** A node on the straight way; `undefined`: it takes a step of its own. */
type Onward = Node<CallRuntime, Reached | undefined>;

/** Takes a node further: what follows it runs in its step, as far as that is straight. */
export type StraightWay = <Place extends string>(
  node: Node<CallRuntime>,
  edge: Edge<Place>,
) => Node<CallRuntime, Reached>;

/** Makes the straight way of a graph. `answerAtOnce` gives `undefined` where the model is still thinking. */
export function straightWay(
  deps: SessionDeps,
  answerAtOnce: Node<CallRuntime, SessionUpdate | undefined>,
): StraightWay {
  const onward = deps.goesStraightOn === true ? onwardNodes(deps, answerAtOnce) : new Map<string, Onward>();
  return (node, edge) => {
    const first = reaching(node, edge);
    return async (state, runtime) => {
      let reached: Reached = await first(state, runtime);
      for (;;) {
        const next = await tried(onward.get(reached.goto), reached.after, runtime);
        if (next === undefined) return { ...reached, update: changesIn(reached.update, state) };
        reached = { ...next, update: joined(reached.update, next.update) };
      }
    };
  };
}

function onwardNodes(
  deps: SessionDeps,
  answerAtOnce: Node<CallRuntime, SessionUpdate | undefined>,
): ReadonlyMap<string, Onward> {
  const toCommit = commit(deps);
  const ofPlain = async (state: SessionStateValues, runtime: CallRuntime) =>
    readRunContext(deps, runtime).isReplay ? undefined : toCommit(state, runtime);
  return new Map([
    ["decideRollover", onwardTo(stayAtOnce(deps), afterDecision)],
    ["prepareTurn", onwardTo(prepareTurn(deps), toSolver)],
    ["callModel", onwardTo(answerAtOnce, afterSolver)],
    ["solveSymbolically", onwardTo(solveSymbolically(deps), afterSolver)],
    ["commit", onwardTo(ofPlain, afterCommit)],
  ]);
}

function onwardTo(node: Node<CallRuntime, SessionUpdate | undefined>, edge: Edge<string>): Onward {
  return async (state, runtime) => {
    const update = await node(state, runtime);
    return update && reachedBy(update, state, edge);
  };
}

/** What fails here takes its own step, and is heard of there. */
async function tried(
  node: Onward | undefined,
  state: SessionStateValues,
  runtime: CallRuntime,
): Promise<Reached | undefined> {
  try {
    return await node?.(state, runtime);
  } catch {
    return undefined;
  }
}

/** What is as it was before the step need not be written: each field that is costs a check, and a place in the checkpoint. */
function changesIn(update: SessionUpdate, before: SessionStateValues): SessionUpdate {
  const fields = Object.entries(update) as [keyof SessionUpdate, unknown][];
  return Object.fromEntries(fields.filter(([name, value]) => value !== before[name]));
}

/** One update that does what two do after each other. */
function joined(first: SessionUpdate, second: SessionUpdate): SessionUpdate {
  return { ...first, ...second, messages: [...messagesIn(first), ...messagesIn(second)] };
}
