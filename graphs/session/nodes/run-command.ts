/**
 * `runCommand`: runs a slash command. One that changes nothing ends the run here; what any other asks for is staged, and
 * made when its turn is committed.
 */
import { RemoveMessage } from "@langchain/core/messages";
import type { SessionDeps } from "#src/app/session-deps.ts";
import type { PlainCommand } from "#src/commands/command.ts";
import { findCommand } from "#src/commands/registry.ts";
import { done, type Envelope } from "#src/kernel/envelope.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { commandContext } from "../command-context.ts";
import { commandReply } from "../handled.ts";
import { locateSession } from "../locate-session.ts";
import { noticeMessage } from "../messages.ts";
import { requireTurn } from "../require.ts";
import { readRunContext, type NodeRuntime } from "../run-context.ts";
import type { SessionStateValues, SessionUpdate } from "../state.ts";

/** Makes the node. */
export function runCommand(deps: SessionDeps) {
  return async (state: SessionStateValues, runtime: NodeRuntime): Promise<SessionUpdate> => {
    const { read } = state;
    if (read !== null) {
      const { envelope } = await run(deps, state, { runtime, ...read });
      const reply = commandReply(envelope, { sessionId: state.session?.sessionId ?? "", ...read });
      return { read: null, reply, messages: shown(deps, read.messageId, envelope) };
    }
    const { session, turn } = requireTurn(state);
    const { deliveryId, command, announcement } = turn;
    if (turn.clears) return { turn: { ...turn, outcome: { envelope: clearedEnvelope() } } };
    const asked = { name: command?.name ?? "", args: command?.args ?? "", deliveryId };
    const { envelope, changes, recalled } = await run(deps, state, { runtime, ...asked });
    if (changes === undefined && recalled === undefined) {
      const reply = commandReply(envelope, { sessionId: session.sessionId, deliveryId });
      return {
        turn: null,
        reply: announcement === null ? reply : { ...reply, announcement },
        messages: shown(deps, turn.firstMessageId, envelope),
      };
    }
    const outcome = { envelope, ...(changes === undefined ? {} : { changes }) };
    return { turn: { ...turn, outcome, recalled: [...(recalled ?? [])] } };
  };
}

function clearedEnvelope(): Envelope {
  return done("context_cleared", "What was said so far is no longer given to the model.", {
    next: "The conversation stays one session (lifecycle.mode is legacy); /history shows all of it.",
  });
}

interface Asked {
  readonly runtime: NodeRuntime;
  readonly name: string;
  readonly args: string;
  readonly deliveryId: string;
}

async function run(deps: SessionDeps, state: SessionStateValues, asked: Asked) {
  const context = readRunContext(deps, asked.runtime);
  const delivery = { deliveryId: asked.deliveryId, text: "" };
  const { chain, session } = await locateSession(deps, context, state.session, delivery);
  if (session === undefined) throw new LilyError("internal", "a command runs only in a session");
  const { repository } = context;
  const { verdict } = state;
  return plainCommand(asked.name).run(
    asked.args,
    commandContext(deps, { chain, session, repository, verdict }),
  );
}

function plainCommand(name: string): PlainCommand {
  const command = findCommand(name);
  if (command?.kind === "plain") return command;
  throw new LilyError("internal", `/${name} cannot be run here`);
}

/** Nothing changed: the reply is shown as a notice, and the message leaves no trace. */
function shown(deps: SessionDeps, messageId: string, envelope: Envelope) {
  return [new RemoveMessage({ id: messageId }), noticeMessage(envelope.message, deps.ids.uuid())];
}
