/** `admit`: takes a message in, or refuses it, or answers it from what is stored; settles what an earlier run left. */
import { HumanMessage, type BaseMessage } from "@langchain/core/messages";
import { leftOutText } from "#src/agents/snapshot.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { isRefusal, readsOnly, type RotatingCommand } from "#src/commands/command.ts";
import { unknownCommand } from "#src/commands/registry.ts";
import { beginningText, endingText, rolloverAnnouncement } from "#src/explain/verdict-text.ts";
import { done, envelopeOf, refused, replyText } from "#src/kernel/envelope.ts";
import { ERROR_CODES, isLilyError } from "#src/kernel/errors.ts";
import { entryOf, type Chain } from "#src/sessions/chain.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { pageContent } from "#src/turns/langchain-messages.ts";
import { keepAttachments } from "#src/turns/inbound.ts";
import { labelThreads } from "#src/turns/thread-registrar.ts";
import { refusal, unstoredEnvelope, type TurnReply } from "#src/turns/turn-reply.ts";
import { beginTurn, type BegunTurn } from "../begin-turn.ts";
import { handOff, linkTo } from "../hand-off.ts";
import { deliveredHash, findHandled, readIntent, textToAnswer, type Intent } from "../handled.ts";
import { putInFlight } from "../in-flight.ts";
import { readDelivery, sortMessages, type Delivery, type SortedMessages } from "../inbound.ts";
import {
  catchUp,
  locateSession,
  lostTurnsText,
  openKey,
  solverOf,
  type CaughtUp,
  type LocatedSession,
} from "../locate-session.ts";
import { deliveredId, noticeMessage, removalOf } from "../messages.ts";
import { requireRoom } from "../plan-call.ts";
import {
  beginningAt,
  firstStepOf,
  readRunContext,
  type NodeRuntime,
  type RunContext,
} from "../run-context.ts";
import { leftOverText, settle } from "../settle.ts";
import type { SessionStateValues, SessionUpdate } from "../state.ts";
import { openedNoticeId } from "../window.ts";

/** Makes the node. */
export function admit(deps: SessionDeps) {
  return async (state: SessionStateValues, runtime: NodeRuntime): Promise<SessionUpdate> => {
    const sorted = withWaiting(sortMessages(state));
    try {
      const { recursionLimit = LEAST_STEPS } = runtime;
      const run = readRunContext(deps, runtime);
      return await admitDelivery(deps, {
        state,
        sorted,
        run,
        recursionLimit,
        firstStep: firstStepOf(runtime),
      });
    } catch (error) {
      if (!isLilyError(error) || ERROR_CODES[error.code].http >= 500) throw error;
      const first = sorted.inbound[0];
      const deliveryId = (first && deliveredId(first)) ?? "";
      const where = { sessionId: state.session?.sessionId ?? "", deliveryId };
      const reply = refusal(unstoredEnvelope(envelopeOf(error)), where);
      return finish(deps, sorted, reply);
    }
  };
}

interface Arrival {
  readonly state: SessionStateValues;
  readonly sorted: SortedMessages;
  readonly run: RunContext;
  /** Steps that the run may take, and the one at which it began. */
  readonly recursionLimit: number;
  readonly firstStep: number | undefined;
}

/** A run without a message of its own answers the one that waits. */
function withWaiting(sorted: SortedMessages): SortedMessages {
  const { inbound, inFlight } = sorted;
  return inbound.length === 0 && inFlight.length === 1
    ? { ...sorted, inbound: inFlight, inFlight: [] }
    : sorted;
}

async function admitDelivery(deps: SessionDeps, arrival: Arrival): Promise<SessionUpdate> {
  const { state, sorted, run } = arrival;
  const delivery = readDelivery(sorted.inbound, deps.limits);
  const found = await locateSession(deps, run, state.session, delivery);

  const own = { ...delivery, ownTextHash: run.collected?.textHash };
  const read = readIntent(found.chain, own, deps.botNames);
  const begins = found.isNew ? textOfNew(deps, read) : undefined;
  if (begins === "" && delivery.attachments.length === 0)
    return finish(deps, sorted, isNewAlready(delivery.deliveryId));
  const intent: Intent = begins === undefined ? read : { kind: "text", text: begins };
  const located =
    begins === undefined
      ? found
      : await locateSession(deps, run, state.session, { ...delivery, leftText: begins });
  const handled = await findHandled(run.repository, located.chain, { ...own, intent });
  if (handled !== undefined) return finish(deps, sorted, handled);
  const refused = refuseCommand(intent, {
    sessionId: located.isNew ? "" : run.threadId,
    deliveryId: delivery.deliveryId,
  });
  if (refused !== undefined) return finish(deps, sorted, refused);
  requireRoomFor(deps, located.session, { delivery, intent });
  await keepAttachments(run.blobs, located.chain.owner, delivery.contents);
  const shown = deps.limits.isShown ? await forPages(run, located.chain.owner, delivery) : delivery;

  if (located.session !== undefined && intent.kind === "command" && readsOnly(intent.command, intent.args)) {
    const { session } = await catchUp(deps, run, located.session);
    return beginRead(sorted, session, { delivery, name: intent.command.name, args: intent.args });
  }
  // What is refused opens no key: a command that is no rotation opens it once it has changed something.
  const unplanned = refusePlan(deps, intent, located);
  if (unplanned !== undefined && located.isNew)
    return finish(deps, sorted, { ...unplanned, sessionId: "", deliveryId: delivery.deliveryId });
  const opensLater = intent.kind === "command" && intent.command.kind === "plain";
  const chain = opensLater ? located.chain : await openKey(deps, run, located);
  // Wherever what a thread says of its session may be from before.
  if (!located.isNew && (state.session === null || chain.latest !== run.threadId))
    await labelThreads(deps.threads, chain);
  if (located.session === undefined || chain.latest !== run.threadId) {
    const handedOff = {
      ref: chain,
      sessionId: chain.latest,
      deliveryId: delivery.deliveryId,
      text: textToAnswer(delivery, intent),
      attachments: delivery.attachments.length === 0 ? undefined : delivery.attachments,
      leaving: [...sorted.notices, ...sorted.inFlight, ...sorted.inbound],
      message: shown.message,
      why: whyElsewhere(chain, run.threadId),
    };
    const update = await handOff(deps, run, handedOff, state);
    return { ...update, session: located.session ?? null };
  }
  // A run that was asked to begin at an old checkpoint is about that moment: what came after it is not adopted.
  const caughtUp = run.isFork
    ? { session: located.session, missed: [] }
    : await catchUp(deps, run, located.session);
  return admitToLatest(deps, arrival, { chain, caughtUp, delivery: shown, intent });
}

/** The delivery with its message as pages show it: with the bytes of what it carries, as far as they can. */
async function forPages({ blobs }: RunContext, owner: string, delivery: Delivery): Promise<Delivery> {
  const { attachments, contents, message, text } = delivery;
  if (attachments.length === 0) return delivery;
  const content = await pageContent(text, attachments, async (attachment) => {
    const sent = contents.find((one) => one.attachment === attachment)?.bytes;
    return sent ?? (await blobs.read(owner, attachment.sha256))?.bytes;
  });
  const { id, additional_kwargs: kept } = message;
  const shown = new HumanMessage({ content, ...(id === undefined ? {} : { id }), additional_kwargs: kept });
  return { ...delivery, message: shown };
}

/** Why the thread does not answer itself: its session has ended, or it never was one of the key. */
function whyElsewhere(chain: Chain, threadId: string): string {
  const verdict = chain.sessions.find(({ previous }) => previous === threadId)?.opened.verdict;
  return verdict === undefined ? "This conversation goes on in another thread." : endingText(verdict);
}

/** A message that no plan can give a model is refused before anything is stored. @throws {LilyError} `message_too_large` */
function requireRoomFor(
  deps: SessionDeps,
  session: SessionFields | undefined,
  { delivery, intent }: { readonly delivery: Delivery; readonly intent: Intent },
): void {
  if (intent.kind === "command" && intent.command.kind !== "rotating") return;
  const agent = session?.activeAgent ?? deps.defaultAgent;
  const model = session === undefined ? deps.defaultModel(agent) : solverOf(deps, session);
  if (model === "symbolic") return;
  const content = textToAnswer(delivery, intent);
  requireRoom(deps, { agent, model }, { content, attachments: [...delivery.attachments] });
}

/** The refusal of a command that is for another bot or that nobody knows. */
function refuseCommand(
  intent: Intent,
  where: { readonly sessionId: string; readonly deliveryId: string },
): TurnReply | undefined {
  if (intent.kind === "unknown") return refusal(unknownCommand(intent.name), where);
  if (intent.kind !== "elsewhere") return undefined;
  const envelope = done("command_for_other", `the command is for ${intent.bot}`);
  return { ...refusal(envelope, where), outcome: "ignored" };
}

/** A command that changes nothing leaves what is in flight for the next message. */
function beginRead(
  sorted: SortedMessages,
  session: SessionFields,
  asked: { readonly delivery: Delivery; readonly name: string; readonly args: string },
): SessionUpdate {
  const { message, deliveryId } = asked.delivery;
  const others = sorted.inbound.filter((inbound) => inbound.id !== message.id);
  return {
    session,
    read: { deliveryId, messageId: message.id ?? "", name: asked.name, args: asked.args },
    reply: null,
    handoff: null,
    messages: [...sorted.notices, ...others].map(removalOf),
  };
}

/** A message for the latest session of its key. */
interface Admission {
  readonly chain: Chain;
  readonly caughtUp: CaughtUp;
  readonly delivery: Delivery;
  readonly intent: Intent;
}

/** The message is for this session: first settle what an earlier run left, then begin or go on. */
async function admitToLatest(
  deps: SessionDeps,
  arrival: Arrival,
  { chain, caughtUp, delivery, intent }: Admission,
): Promise<SessionUpdate> {
  const { state, sorted, run } = arrival;
  const { deliveryId } = delivery;
  const refused = refusePlan(deps, intent, { chain, session: caughtUp.session });
  if (refused !== undefined) return finish(deps, sorted, { ...refused, deliveryId });
  const textHash = deliveredHash({ ...delivery, ownTextHash: run.collected?.textHash }, intent);
  const { session, messages, fields, resumed, waiting } = await settle(deps, {
    run,
    state,
    inFlight: sorted.inFlight,
    deliveryId,
    textHash,
    isText: intent.kind === "text",
    caughtUp,
  });
  const leaving = sorted.inFlight.map(removalOf);
  if (resumed !== undefined) {
    return {
      ...fields,
      session,
      turn: beginningAt(resumed, arrival.firstStep),
      reply: null,
      handoff: null,
      messages: [...removals(sorted), ...leaving, ...messages],
    };
  }
  const said = [
    announcementFor(chain, session),
    lostTurnsText(caughtUp),
    await leftOverText(deps, run, { session, leftOver: sorted.leftOver }),
    session.turns === 0 ? leftOutText(session) : null,
  ].filter((text) => text !== null);
  const begun = beginTurn(deps, {
    sorted,
    session,
    delivery,
    textHash,
    waiting,
    collected: run.collected,
    intent,
    announcement: said.length === 0 ? null : said.join("\n"),
    opened: deps.limits.isShown ? openedNotice(chain, session) : undefined,
    messages: [...leaving, ...sorted.leftOver.map(removalOf), ...messages],
    fields,
  });
  return putBegun(deps, arrival, { session, begun });
}

/** Notes the turn that begins; in a run of too few steps it waits for the next one. */
async function putBegun(
  deps: SessionDeps,
  { sorted, run, recursionLimit, firstStep }: Arrival,
  {
    session,
    begun: { update, turn: begun, message },
  }: { readonly session: SessionFields; readonly begun: BegunTurn },
): Promise<SessionUpdate> {
  const { deliveryId, command } = begun;
  const isTooShort = recursionLimit < LEAST_STEPS;
  // A command leaves nothing behind that anybody could go on with.
  if (command !== null)
    return isTooShort
      ? finish(deps, sorted, { ...tooFewSteps(recursionLimit, TRY_AGAIN), deliveryId })
      : update;
  const turn = beginningAt(isTooShort ? { ...begun, waits: true } : begun, firstStep);
  const { sessionId } = session;
  await putInFlight(run.store, session, { sessionId, turn, messages: [message], call: null });
  return isTooShort
    ? { ...update, turn, reply: { ...tooFewSteps(recursionLimit, WAITS), deliveryId } }
    : { ...update, turn };
}

/** Steps of a turn without tools, by the diagram of the graph. */
const LEAST_STEPS = 6;
const TRY_AGAIN = "Send it again without that limit; nothing was stored.";
const WAITS = "Your message is kept, and is answered with the next run on this thread.";

function tooFewSteps(limit: number, next: string): TurnReply {
  const what = `the run may take ${limit} steps (recursion_limit), and a turn takes at least ${LEAST_STEPS}`;
  return refusal(refused("request_invalid", what, { next }));
}

/** The refusal of a rotation that cannot be: nothing is ended for it. */
function refusePlan(
  deps: SessionDeps,
  intent: Intent,
  { chain, session }: Pick<LocatedSession, "chain" | "session">,
): TurnReply | undefined {
  const entry = entryOf(chain, session?.sessionId ?? "");
  if (intent.kind !== "command" || intent.command.kind !== "rotating") return undefined;
  if (session === undefined || entry === undefined) return undefined;
  if (deps.lifecycleMode === "legacy") return refuseInLegacy(intent.command, session);
  const plan = intent.command.plan(intent.args, { chain, entry, session });
  return isRefusal(plan) ? refusal(plan, { sessionId: session.sessionId }) : undefined;
}

function refuseInLegacy(command: RotatingCommand, { sessionId }: SessionFields): TurnReply | undefined {
  if (command.clearsInPlace === true) return undefined;
  const envelope = refused(
    "legacy_mode",
    `/${command.name} needs sessions, which legacy mode does not make`,
    {
      next: 'Set lifecycle.mode to "segmented" in config.json; nothing is lost by it.',
    },
  );
  return refusal(envelope, { sessionId });
}

/** Tells of a rollover that nobody asked for, with the first turn of the session that it began. */
function announcementFor(chain: Chain, session: SessionFields): string | null {
  const verdict = entryOf(chain, session.sessionId)?.opened.verdict;
  if (session.turns > 0 || verdict === undefined || verdict.trigger === "command") return null;
  return rolloverAnnouncement(verdict, session.task);
}

/** Says in the thread of a session that another one led to why it began, with its first turn. */
function openedNotice(chain: Chain, session: SessionFields): BaseMessage | undefined {
  const { sessionId, turns } = session;
  const entry = entryOf(chain, sessionId);
  if (turns > 0 || entry?.opened.verdict === undefined || entry.previous === null) return undefined;
  const why = announcementFor(chain, session) ?? beginningText(entry.opened.verdict);
  const text = linkTo(entry.previous, why, "The conversation before");
  return noticeMessage(text, openedNoticeId(sessionId));
}

/** What `/new` leaves to answer in a key in which nothing was ever said: there is nothing to end. */
function textOfNew(deps: SessionDeps, intent: Intent): string | undefined {
  if (deps.lifecycleMode === "legacy" || intent.kind !== "command") return undefined;
  const { command, args } = intent;
  return command.kind === "rotating" && command.clearsInPlace === true ? command.textBehind(args) : undefined;
}

function isNewAlready(deliveryId: string): TurnReply {
  const envelope = done("session_new", "This conversation is new already: nothing was said in it yet.");
  return { ...refusal(envelope, { deliveryId }), outcome: "command" };
}

/** Ends the run with a reply; what came in is taken out again, and what was in flight stays for the next run. */
function finish(deps: SessionDeps, sorted: SortedMessages, reply: TurnReply): SessionUpdate {
  const shown =
    reply.outcome === "ignored" || reply.repeated
      ? []
      : [noticeMessage(replyText(reply.envelope), deps.ids.uuid())];
  return { reply, handoff: null, messages: [...removals(sorted), ...shown] };
}

function removals(sorted: SortedMessages): BaseMessage[] {
  return [...sorted.notices, ...sorted.inbound].map(removalOf);
}
