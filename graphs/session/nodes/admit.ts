/** `admit`: takes a message in, or refuses it, or answers it from what is stored; settles what an earlier run left. */
import { RemoveMessage, type BaseMessage } from "@langchain/core/messages";
import { unknownCommand } from "#src/commands/registry.ts";
import { isReadOnly, isRefusal } from "#src/commands/command.ts";
import { toInstant } from "#src/kernel/clock.ts";
import { done, envelopeOf } from "#src/kernel/envelope.ts";
import { ERROR_CODES, isLilyError } from "#src/kernel/errors.ts";
import { rolloverAnnouncement } from "#src/explain/verdict-text.ts";
import { entryOf, type Chain } from "#src/sessions/chain.ts";
import { textHashOf } from "#src/sessions/seal.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { refusal, type TurnReply } from "#src/turns/turn-reply.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { findHandled, readIntent, type Intent } from "../handled.ts";
import { readDelivery, sortMessages, type Delivery, type SortedMessages } from "../inbound.ts";
import { catchUp, locateSession, type LocatedSession } from "../locate-session.ts";
import { laterCopy, noticeMessage } from "../messages.ts";
import { readRunContext, type NodeRuntime, type RunContext } from "../run-context.ts";
import { settle } from "../settle.ts";
import type { SessionStateValues, SessionUpdate, TurnInFlight } from "../state.ts";

/** Makes the node. */
export function admit(deps: SessionDeps) {
  return async (state: SessionStateValues, runtime: NodeRuntime): Promise<SessionUpdate> => {
    const sorted = sortMessages(state);
    try {
      return await admitDelivery(deps, { state, runtime, sorted });
    } catch (error) {
      if (!isLilyError(error) || ERROR_CODES[error.code].http >= 500) throw error;
      const reply = refusal(envelopeOf(error), { sessionId: state.session?.sessionId ?? "" });
      return finish(deps, sorted, reply);
    }
  };
}

interface Arrival {
  readonly state: SessionStateValues;
  readonly runtime: NodeRuntime;
  readonly sorted: SortedMessages;
}

async function admitDelivery(deps: SessionDeps, arrival: Arrival): Promise<SessionUpdate> {
  const { state, sorted } = arrival;
  const run = readRunContext(deps, arrival.runtime);
  const delivery = readDelivery(sorted.inbound, deps.limits.messageCharacters);
  const located = await locateSession(deps, run, state.session, delivery);

  const intent = readIntent(located.chain, delivery, deps.botNames);
  const handled = await findHandled(run.repository, located.chain, { ...delivery, intent });
  if (handled !== undefined) return finish(deps, sorted, handled);
  const early = await answerEarly(intent, { deps, run, located, delivery });
  if (early !== undefined) return finish(deps, sorted, early);

  const isRead = intent.kind === "command" && isReadOnly(intent.command);
  const chain = located.isNew && !isRead ? await openKey(run, located) : located.chain;
  if (located.session === undefined || chain.latest !== run.threadId) {
    const session = located.session ?? null;
    return begin(deps, { sorted, session, delivery, intent, latest: chain.latest });
  }
  return admitToLatest(deps, arrival, { run, chain, session: located.session, delivery, intent });
}

interface Admission {
  readonly run: RunContext;
  readonly chain: Chain;
  readonly session: SessionFields;
  readonly delivery: Delivery;
  readonly intent: Intent;
}

/** The message is for this session: first settle what an earlier run left, then begin or go on. */
async function admitToLatest(
  deps: SessionDeps,
  arrival: Arrival,
  admission: Admission,
): Promise<SessionUpdate> {
  const { state, sorted } = arrival;
  const { run, delivery, intent } = admission;
  const caughtUp = await catchUp(run.repository, admission.session);
  const settled = await settle(deps, {
    run,
    state,
    inFlight: sorted.inFlight,
    deliveryId: delivery.deliveryId,
    caughtUp,
  });
  if (settled.resumed !== undefined) {
    const messages = [...removals(sorted), ...settled.messages];
    return { turn: settled.resumed, reply: null, handoff: null, messages };
  }
  return begin(deps, {
    sorted,
    session: settled.session,
    delivery,
    intent,
    latest: null,
    announcement: announcementFor(admission),
    messages: settled.messages,
    fields: settled.fields,
  });
}

/** Tells of the rollover that this very message caused, unless the user asked for it. */
function announcementFor({ chain, session, delivery }: Admission): string | null {
  const opened = entryOf(chain, session.sessionId)?.opened;
  if (opened?.deliveryId !== delivery.deliveryId || opened.verdict === undefined) return null;
  return opened.verdict.trigger === "command" ? null : rolloverAnnouncement(opened.verdict);
}

interface EarlyContext {
  readonly deps: SessionDeps;
  readonly run: RunContext;
  readonly located: LocatedSession;
  readonly delivery: Delivery;
}

/** The reply to a message that needs no turn: it is for another bot, names no command, or plans what cannot be. */
async function answerEarly(intent: Intent, context: EarlyContext): Promise<TurnReply | undefined> {
  const where = { sessionId: context.run.threadId, deliveryId: context.delivery.deliveryId };
  if (intent.kind === "elsewhere") {
    const envelope = done("command_for_other", `the command is for ${intent.bot}`);
    return { ...refusal(envelope, where), outcome: "ignored" };
  }
  if (intent.kind === "unknown") return refusal(unknownCommand(intent.name), where);
  if (intent.kind !== "command" || intent.command.kind !== "rotating") return undefined;
  const { chain, session } = context.located;
  const entry = entryOf(chain, chain.latest);
  if (session === undefined || entry === undefined || chain.latest !== context.run.threadId) return undefined;
  const { session: current } = await catchUp(context.run.repository, session);
  const plan = intent.command.plan(intent.args, { chain, entry, session: current });
  return isRefusal(plan) ? refusal(plan, where) : undefined;
}

/** First contact: the key gets its chain. A thread that lost the race to open it learns of the winner. */
async function openKey(run: RunContext, located: LocatedSession): Promise<Chain> {
  await run.repository.indexSession(run.threadId, located.chain);
  await run.repository.writeChain(located.chain);
  return (await run.repository.readChain(located.chain)) ?? located.chain;
}

interface Beginning {
  readonly sorted: SortedMessages;
  readonly session: SessionFields | null;
  readonly delivery: Delivery;
  readonly intent: Intent;
  readonly latest: string | null;
  readonly announcement?: string | null;
  /** Changes to `messages`, and to the other channels, that settling made. */
  readonly messages?: readonly BaseMessage[];
  readonly fields?: SessionUpdate;
}

/** A turn in flight at its begin. */
function begin(deps: SessionDeps, beginning: Beginning): SessionUpdate {
  const { delivery, intent, session, sorted } = beginning;
  const text = intent.kind === "text" ? intent.text : delivery.text;
  const added = beginning.messages ?? [];
  // Turns that the checkpoint had missed come before this one, so its message moves behind them.
  const isMoved = added.some((message) => !RemoveMessage.isInstance(message));
  const message = isMoved ? laterCopy(delivery.message) : delivery.message;
  const turn: TurnInFlight = {
    deliveryId: delivery.deliveryId,
    requestId: deps.ids.uuid(),
    textHash: textHashOf(text),
    text,
    startedAt: toInstant(deps.clock.now()),
    number: (session?.turns ?? 0) + 1,
    firstMessageId: message.id ?? "",
    command:
      intent.kind === "command"
        ? {
            name: intent.command.name,
            args: intent.args,
            readOnly: isReadOnly(intent.command),
            rotates: intent.command.kind === "rotating",
          }
        : null,
    latest: beginning.latest,
    outcome: null,
    announcement: beginning.announcement ?? null,
    notice: null,
    recalled: [],
    solver: null,
    receipt: null,
    status: "completed",
    stagedUnits: [],
    modelCalls: 0,
  };
  const replaced = sorted.inbound.filter((inbound) => inbound.id !== message.id).map(remove);
  return {
    ...beginning.fields,
    session,
    turn,
    reply: null,
    handoff: null,
    messages: [...sorted.notices.map(remove), ...replaced, ...added, ...(isMoved ? [message] : [])],
  };
}

/** Ends the run with a reply; what came in is taken out again, and what was in flight stays for the next run. */
function finish(deps: SessionDeps, sorted: SortedMessages, reply: TurnReply): SessionUpdate {
  const shown =
    reply.outcome === "ignored" || reply.repeated ? [] : [noticeMessage(shownText(reply), deps.ids.uuid())];
  return { reply, handoff: null, messages: [...removals(sorted), ...shown] };
}

function shownText(reply: TurnReply): string {
  return reply.envelope.next === undefined
    ? reply.envelope.message
    : `${reply.envelope.message}. ${reply.envelope.next}`;
}

function removals(sorted: SortedMessages): BaseMessage[] {
  return [...sorted.notices, ...sorted.inbound].map(remove);
}

function remove(message: BaseMessage): RemoveMessage {
  return new RemoveMessage({ id: message.id ?? "" });
}
