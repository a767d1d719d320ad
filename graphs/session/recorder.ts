/** The recorder around the nodes: notes in the turn in flight when each step began and how long it took. */
import { ToolMessage } from "@langchain/core/messages";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { fromInstant } from "#src/kernel/clock.ts";
import { MAX_STEPS, type Step } from "#src/sessions/turn-record.ts";
import type { SessionStateValues, SessionUpdate, TurnInFlight } from "./state.ts";

type Node<Runtime> = (state: SessionStateValues, runtime: Runtime) => Promise<SessionUpdate>;

/** When steps began that failed, by what they threw. */
const begun = new WeakMap<object, number>();

/**
 * Wraps a node. What it does not know it leaves to others: the step that commits a turn is not over when it is stored, and
 * one that waits for a person is noted once it has run.
 */
export function recorder({ clock }: Pick<SessionDeps, "clock">) {
  return <Runtime>(name: string, node: Node<Runtime>): Node<Runtime> =>
    async (state, runtime) => {
      const begunMs = clock.now();
      try {
        const update = await node(state, runtime);
        const turn = turnAfter(name, state, update);
        if (turn === null) return update;
        const times = [begunMs, clock.now()] as const;
        return { ...update, turn: withStep(turn, name, times, toolOutcome(state.turn, turn, update)) };
      } catch (error) {
        if (typeof error === "object" && error !== null) begun.set(error, begunMs);
        throw error;
      }
    };
}

/** The steps of a turn that failed, the one in which it did last. */
export function stepsOfFailure(
  turn: TurnInFlight,
  { node, error }: { readonly node: string; readonly error: unknown },
  atMs: number,
): Step[] {
  const begunMs = typeof error === "object" && error !== null ? begun.get(error) : undefined;
  return withStep(turn, node, [begunMs ?? atMs, atMs]).steps ?? [];
}

/** A message that is refused, and a command that only reads, are no steps of the turn that may be in flight beside them. */
function turnAfter(
  name: string,
  { read, turn }: SessionStateValues,
  update: SessionUpdate,
): TurnInFlight | null {
  if (update.turn !== undefined) return update.turn as TurnInFlight | null;
  return name === "admit" || read !== null ? null : turn;
}

/** Of a step that ran a tool, or should have. The result of its call comes first; a call that was not run is not counted. */
function toolOutcome(before: TurnInFlight | null, after: TurnInFlight, { messages }: SessionUpdate): Step[3] {
  const [first] = Array.isArray(messages) ? messages : [];
  if (!ToolMessage.isInstance(first)) return undefined;
  if (before?.spent?.toolCalls === after.spent?.toolCalls) return "notRun";
  return first.status === "error" ? "failed" : undefined;
}

function withStep(
  turn: TurnInFlight,
  name: string,
  [begunMs, endedMs]: readonly [number, number],
  outcome?: Step[3],
): TurnInFlight {
  const times = [Math.max(0, begunMs - fromInstant(turn.startedAt)), Math.max(0, endedMs - begunMs)] as const;
  const step: Step = outcome === undefined ? [name, ...times] : [name, ...times, outcome];
  return { ...turn, steps: [...(turn.steps ?? []), step].slice(-MAX_STEPS) };
}
