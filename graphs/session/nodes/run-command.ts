/**
 * `runCommand`: runs a slash command. One that changes nothing ends the run here; what any other asks for is staged, and
 * made when its turn is committed.
 */
import { RemoveMessage } from "@langchain/core/messages";
import type { CommandOutcome, PlainCommand } from "#src/commands/command.ts";
import { findCommand } from "#src/commands/registry.ts";
import type { Envelope } from "#src/kernel/envelope.ts";
import { LilyError } from "#src/kernel/errors.ts";
import type { TurnReply } from "#src/turns/turn-reply.ts";
import { commandContext } from "../command-context.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { locateSession } from "../locate-session.ts";
import { noticeMessage } from "../messages.ts";
import { requireTurn } from "../require.ts";
import { readRunContext, type NodeRuntime } from "../run-context.ts";
import type { SessionStateValues, SessionUpdate, TurnInFlight } from "../state.ts";

/** Makes the node. */
export function runCommand(deps: SessionDeps) {
  return async (state: SessionStateValues, runtime: NodeRuntime): Promise<SessionUpdate> => {
    const { session, turn } = requireTurn(state);
    const run = readRunContext(deps, runtime);
    const { chain } = await locateSession(deps, run, session, turn);
    const context = commandContext(deps, {
      chain,
      session,
      repository: run.repository,
      verdict: state.verdict,
    });
    const outcome = await plainCommand(turn).run(turn.command?.args ?? "", context);
    if (outcome.changes === undefined && outcome.recalled === undefined) {
      return answerOnly(deps, { turn, sessionId: session.sessionId, envelope: outcome.envelope });
    }
    return stage(turn, outcome);
  };
}

function plainCommand(turn: TurnInFlight): PlainCommand {
  const command = findCommand(turn.command?.name ?? "");
  if (command?.kind === "plain") return command;
  throw new LilyError("internal", `/${turn.command?.name ?? ""} cannot be run here`);
}

/** Nothing changed: the reply is shown as a notice, and the turn leaves no trace. */
function answerOnly(
  deps: SessionDeps,
  answer: { readonly turn: TurnInFlight; readonly sessionId: string; readonly envelope: Envelope },
): SessionUpdate {
  const reply: TurnReply = {
    outcome: answer.envelope.ok ? "command" : "refused",
    sessionId: answer.sessionId,
    deliveryId: answer.turn.deliveryId,
    turn: null,
    status: null,
    repeated: false,
    ...(answer.turn.announcement === null ? {} : { announcement: answer.turn.announcement }),
    envelope: answer.envelope,
  };
  return {
    turn: null,
    reply,
    messages: [
      new RemoveMessage({ id: answer.turn.firstMessageId }),
      noticeMessage(answer.envelope.message, deps.ids.uuid()),
    ],
  };
}

function stage(turn: TurnInFlight, outcome: CommandOutcome): SessionUpdate {
  const { envelope, changes, recalled } = outcome;
  return {
    turn: {
      ...turn,
      outcome: { envelope, ...(changes === undefined ? {} : { changes }) },
      recalled: [...(recalled ?? [])],
    },
  };
}
