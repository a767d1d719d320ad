/** `admit`: takes a message in, or refuses it, or answers it from what is stored; settles what an earlier run left. */
import { type BaseMessage, RemoveMessage } from "@langchain/core/messages";
import { leftOutText } from "#src/agents/snapshot.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { isRefusal, readsOnly } from "#src/commands/command.ts";
import { unknownCommand } from "#src/commands/registry.ts";
import { endingText } from "#src/explain/verdict-text.ts";
import { toInstant } from "#src/kernel/clock.ts";
import { done, envelopeOf, refused, replyText } from "#src/kernel/envelope.ts";
import { ERROR_CODES, isLilyError } from "#src/kernel/errors.ts";
import { type Chain, entryOf } from "#src/sessions/chain.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { contentOf, pageContent } from "#src/turns/langchain-messages.ts";
import { keepAttachments } from "#src/turns/inbound.ts";
import { labelThreads } from "#src/turns/thread-registrar.ts";
import { refusal, type TurnReply, unstoredEnvelope } from "#src/turns/turn-reply.ts";
import {
  deliveredHash,
  type Delivery,
  findHandled,
  type Intent,
  readDelivery,
  readIntent,
  rotationIn,
  type SortedMessages,
  sortMessages,
  textToAnswer,
} from "../delivery.ts";
import { leftOverText, putInFlight, settle, type Settled } from "../in-flight.ts";
import {
  catchUp,
  type CaughtUp,
  type LocatedSession,
  locateSession,
  lostTurnsText,
  openKey,
  solverOf,
} from "../locate-session.ts";
import { deliveredId, laterCopy, noticeMessage, removalOf, userMessageWith } from "../messages.ts";
import { requireRoom } from "../plan-call.ts";
import {
  beginningAt,
  firstStepOf,
  type NodeRuntime,
  readRunContext,
  type RunContext,
} from "../run-context.ts";
import type { SessionStateValues, SessionUpdate, TurnInFlight } from "../state.ts";
import { announcementFor, handOff, openedNotice } from "../window.ts";

/** Makes the node. */
export function admit(deps: SessionDeps) {
  return async (state: SessionStateValues, runtime: NodeRuntime): Promise<SessionUpdate> => {
    const sorted = withWaiting(sortMessages(state));
    try {
      const run = readRunContext(deps, runtime);
      return await admitDelivery(deps, { state, sorted, run, runtime });
    } catch (error) {
      if (!isLilyError(error) || ERROR_CODES[error.code].http >= 500) throw error;
      const first = sorted.inbound[0];
      const deliveryId = (first && deliveredId(first)) ?? "";
      const where = { sessionId: state.session?.sessionId ?? "", deliveryId };
      return finish(deps, sorted, refusal(unstoredEnvelope(envelopeOf(error)), where));
    }
  };
}

interface Arrival {
  readonly state: SessionStateValues;
  readonly sorted: SortedMessages;
  readonly run: RunContext;
  readonly runtime: NodeRuntime;
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
  const opensLater = intent.kind === "command" && intent.command.kind !== "rotating";
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
  return { ...delivery, message: userMessageWith(message, { content }) };
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
  const agent = session?.activeAgent ?? deps.agents.defaultAgent;
  const model = session === undefined ? deps.agents.defaultModel(agent) : solverOf(deps, session);
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
  admission: Admission,
): Promise<SessionUpdate> {
  const { state, sorted, run, runtime } = arrival;
  const { chain, caughtUp, delivery, intent } = admission;
  const { deliveryId } = delivery;
  const refused = refusePlan(deps, intent, { chain, session: caughtUp.session });
  if (refused !== undefined) return finish(deps, sorted, { ...refused, deliveryId });
  const textHash = deliveredHash({ ...delivery, ownTextHash: run.collected?.textHash }, intent);
  const { inFlight, leftOver } = sorted;
  const isText = intent.kind === "text";
  const settled = await settle(deps, { run, state, inFlight, deliveryId, textHash, isText, caughtUp });
  const { session, messages, fields, resumed } = settled;
  if (resumed !== undefined)
    return {
      ...fields,
      session,
      turn: beginningAt(resumed, firstStepOf(runtime)),
      reply: null,
      handoff: null,
      messages: [...removals(sorted), ...inFlight.map(removalOf), ...messages],
    };
  const said = [
    announcementFor(chain, session),
    lostTurnsText(caughtUp),
    await leftOverText(deps, run, { session, leftOver }),
    session.turns === 0 ? leftOutText(session) : null,
  ].filter((text) => text !== null);
  const announcement = said.length === 0 ? null : said.join("\n");
  return beginTurn(deps, arrival, { ...admission, settled, textHash, announcement });
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
  const { command, args } = rotationIn(intent) ?? {};
  if (command === undefined || session === undefined || entry === undefined) return undefined;
  const { sessionId } = session;
  if (deps.lifecycleMode === "legacy") {
    const what = `/${command.name} needs sessions, which legacy mode does not make`;
    const next = 'Set lifecycle.mode to "segmented" in config.json; nothing is lost by it.';
    return command.clearsInPlace === true
      ? undefined
      : refusal(refused("legacy_mode", what, { next }), { sessionId });
  }
  const plan = command.plan(args ?? "", { chain, entry, session });
  return isRefusal(plan) ? refusal(plan, { sessionId }) : undefined;
}

/** What `/new` leaves to answer in a key in which nothing was ever said: there is nothing to end. */
function textOfNew(deps: SessionDeps, intent: Intent): string | undefined {
  const { command, args } = rotationIn(intent) ?? {};
  if (deps.lifecycleMode === "legacy" || command?.clearsInPlace !== true) return undefined;
  return command.textBehind(args ?? "");
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

/** What a turn begins with. */
interface Beginning extends Admission {
  readonly settled: Settled;
  /** Of what its message says itself. */
  readonly textHash: string;
  readonly announcement: string | null;
}

/** Begins a turn, and notes that it is in flight; in a run of too few steps it waits for the next one. */
async function beginTurn(
  deps: SessionDeps,
  { sorted, run, runtime }: Arrival,
  beginning: Beginning,
): Promise<SessionUpdate> {
  const { chain, settled } = beginning;
  const { session, fields, messages: adopted } = settled;
  const { inbound, inFlight, leftOver, notices } = sorted;
  const delivery = joinedDelivery(beginning);
  // Turns that the checkpoint had missed come before this one, so its message moves behind them.
  const isMoved = adopted.some((message) => !RemoveMessage.isInstance(message));
  const message = isMoved ? laterCopy(delivery.message) : delivery.message;
  const opened = deps.limits.isShown ? openedNotice(chain, session) : undefined;
  const begun = turnOf(deps, { ...beginning, delivery, collected: run.collected }, message.id ?? "");
  const leaving = [...notices, ...inbound.filter((one) => one !== message), ...inFlight, ...leftOver];
  const fresh = [inbound.includes(message) ? undefined : message, opened].filter((one) => one !== undefined);
  const messages = [...leaving.map(removalOf), ...adopted, ...fresh];
  const update = { ...fields, session, turn: begun, reply: null, handoff: null, messages };
  const { recursionLimit = LEAST_STEPS } = runtime;
  const { deliveryId } = begun;
  const isTooShort = recursionLimit < LEAST_STEPS;
  // A command leaves nothing behind that anybody could go on with.
  if (begun.command !== null)
    return isTooShort
      ? finish(deps, sorted, { ...tooFewSteps(recursionLimit, TRY_AGAIN), deliveryId })
      : update;
  const turn = beginningAt(isTooShort ? { ...begun, waits: true } : begun, firstStepOf(runtime));
  const { sessionId } = session;
  await putInFlight(run.store, session, { sessionId, turn, messages: [message], call: null });
  const reply = isTooShort ? { ...tooFewSteps(recursionLimit, WAITS), deliveryId } : null;
  return { ...update, turn, reply };
}

/** The delivery with what waits to be answered with it, which comes first; its hash stays that of its own text. */
function joinedDelivery({ delivery, settled: { waiting } }: Beginning): Delivery {
  if (waiting === undefined) return delivery;
  const text = `${waiting.text}\n\n${delivery.text}`.trim();
  const attachments = [...(waiting.attachments ?? []), ...delivery.attachments];
  const message = userMessageWith(delivery.message, { content: contentOf(text, attachments) });
  return { ...delivery, text, attachments, message };
}

function turnOf(
  deps: SessionDeps,
  beginning: Beginning & Pick<RunContext, "collected">,
  firstMessageId: string,
): TurnInFlight {
  const { delivery, intent, collected, settled, textHash, announcement } = beginning;
  const { session, waiting } = settled;
  const others = [
    ...(collected?.others ?? []),
    ...(waiting === undefined ? [] : [{ deliveryId: waiting.deliveryId, textHash: waiting.textHash }]),
    ...(waiting?.collected ?? []),
  ];
  // In legacy mode a command that would end the session clears its context instead; what is behind it is answered.
  const rotation = rotationIn(intent);
  const clears = rotation !== undefined && deps.lifecycleMode === "legacy";
  const behind = clears ? rotation.command.textBehind(rotation.args) : "";
  const rotates = rotation !== undefined && !clears;
  return {
    deliveryId: delivery.deliveryId,
    requestId: deps.ids.uuid(),
    textHash,
    ...(others.length === 0 ? {} : { collected: others }),
    text: behind || (waiting === undefined ? textToAnswer(delivery, intent) : delivery.text),
    ...(delivery.attachments.length === 0 ? {} : { attachments: [...delivery.attachments] }),
    startedAt: toInstant(deps.clock.now()),
    number: session.turns + 1,
    firstMessageId,
    command:
      intent.kind === "command" && behind === ""
        ? { name: intent.command.name, args: intent.args, rotates }
        : null,
    ...(clears ? { clears } : {}),
    outcome: null,
    announcement,
    notice: null,
    recalled: [],
    solver: null,
    receipt: null,
    status: "completed",
    stagedUnits: [],
    modelCalls: 0,
  };
}
