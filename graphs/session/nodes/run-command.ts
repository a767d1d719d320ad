/**
 * `runCommand`: runs a slash command. One that changes nothing ends the run here; what any other asks for is staged, and
 * made when its turn is committed.
 */
import { RemoveMessage } from "@langchain/core/messages";
import { withContents } from "#src/agents/snapshot.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { orRefusal, readsOnly, runPlain, type PlainCommand } from "#src/commands/command.ts";
import { findCommand } from "#src/commands/registry.ts";
import { done, refused, replyText, type Envelope } from "#src/kernel/envelope.ts";
import { LilyError } from "#src/kernel/errors.ts";
import { compactNow } from "../summaries.ts";
import { commandContext } from "../command-context.ts";
import { commandReply } from "../delivery.ts";
import { locateSession, openKey, type FirstDelivery } from "../locate-session.ts";
import { noticeMessage } from "../messages.ts";
import { requireTurn } from "../turn-messages.ts";
import { readRunContext, type NodeRuntime } from "../run-context.ts";
import type { SessionStateValues, SessionUpdate } from "../state.ts";
import { decideRollover } from "./decide-rollover.ts";

export function runCommand(deps: SessionDeps) {
  return async (state: SessionStateValues, runtime: NodeRuntime): Promise<SessionUpdate> => {
    const { read } = state;
    if (read !== null) {
      const { command, context } = await prepare(deps, state, { runtime, text: "", ...read });
      const { envelope } = await runPlain(command, read.args, context);
      const reply = commandReply(envelope, { sessionId: state.session?.sessionId ?? "", ...read });
      return { read: null, reply, messages: shown(deps, read.messageId, envelope) };
    }
    const { turn } = requireTurn(state);
    if (turn.clears) return { turn: { ...turn, outcome: { envelope: CLEARED } } };
    const { name, args } = turn.command ?? { name: "", args: "" };
    const { deliveryId, text, attachments } = turn;
    const { command, context, opens } = await prepare(deps, state, {
      runtime,
      name,
      deliveryId,
      text,
      ...(attachments === undefined ? {} : { attachments }),
    });
    const changesSomething = !readsOnly(command, args);
    const refused = changesSomething
      ? await orRefusal(async () => command.check?.(args, context))
      : undefined;
    if (refused !== undefined) return uncommitted(deps, state, { envelope: refused, isNew: opens.isNew });
    if (command.effects.includes("memory") && changesSomething) {
      // Memory is not part of the session: what would be done here is done in the session that comes next, once.
      const { verdict } = await decideRollover(deps)(state, runtime);
      if (verdict?.action === "rotate") return { turn: { ...turn, outcome: { envelope: MOVED_ON } } };
    }
    const { envelope, changes, recalled, units = [], isCommitted } = await runPlain(command, args, context);
    if (changes === undefined && recalled === undefined && isCommitted !== true)
      return uncommitted(deps, state, { envelope, isNew: opens.isNew });
    await openKey(deps, readRunContext(deps, runtime), opens);
    const outcome = { envelope, ...(changes === undefined ? {} : { changes }) };
    return { turn: { ...turn, outcome, recalled: [...(recalled ?? [])], stagedUnits: [...units] } };
  };
}

/** Nothing changed: the run ends with the reply, and the message leaves no trace. */
function uncommitted(
  deps: SessionDeps,
  state: SessionStateValues,
  { envelope, isNew }: { readonly envelope: Envelope; readonly isNew: boolean },
): SessionUpdate {
  const { session, turn } = requireTurn(state);
  const { deliveryId, announcement } = turn;
  const reply = commandReply(envelope, { sessionId: isNew ? "" : session.sessionId, deliveryId });
  return {
    turn: null,
    reply: announcement === null ? reply : { ...reply, announcement },
    messages: shown(deps, turn.firstMessageId, envelope),
  };
}

/** Told only if the clock is set back between this step and the next, which then ends no session. */
const MOVED_ON = refused("turn_conflict", "the clock was set back while the command was read", {
  next: "Send it again; nothing was done.",
});

const CLEARED = done("context_cleared", "What was said so far is no longer given to the model.", {
  next: "The conversation stays one session (lifecycle.mode is legacy); /history shows all of it.",
});

interface Asked extends FirstDelivery {
  readonly runtime: NodeRuntime;
  readonly name: string;
}

async function prepare(deps: SessionDeps, state: SessionStateValues, asked: Asked) {
  const run = readRunContext(deps, asked.runtime);
  const located = await locateSession(deps, run, state.session, asked);
  const { chain, session, contents = [] } = located;
  if (session === undefined) throw new LilyError("internal", "a command runs only in a session");
  return {
    opens: located,
    command: plainCommand(asked.name),
    context: await commandContext(
      deps,
      { ...run, blobs: withContents(contents, run.blobs) },
      {
        chain,
        session,
        turn: state.turn?.number,
        compact: (instructions) => compactNow(deps, run, { chain, session, instructions }),
        erasing: run.erased && { receipt: run.erased },
      },
    ),
  };
}

function plainCommand(name: string): PlainCommand {
  const command = findCommand(name);
  if (command !== undefined && command.kind !== "rotating") return command;
  throw new LilyError("internal", `/${name} cannot be run here`);
}

/** The reply as a notice in place of the message. */
function shown(deps: SessionDeps, messageId: string, envelope: Envelope) {
  return [new RemoveMessage({ id: messageId }), noticeMessage(replyText(envelope), deps.ids.uuid())];
}
