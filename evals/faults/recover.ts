/** Opens what a fault has left, delivers the message again, sends the next ones, and says what does not hold. */
import { isNotice } from "#graphs/session/messages.ts";
import type { SessionStateValues } from "#graphs/session/state.ts";
import { errorMessage } from "#src/kernel/errors.ts";
import { verifyOwner } from "#src/sessions/verify.ts";
import type { TurnReply } from "#src/turns/turn-reply.ts";
import {
  chainProblems,
  contextProblems,
  inputProblems,
  orderProblems,
  toolProblems,
  turnProblems,
  wholeTurnProblems,
} from "./invariants.ts";
import { openPart } from "./run-scenario.ts";
import type { Scenario } from "./scenarios.ts";
import { readStored, withoutTurns } from "./stored.ts";
import { factProblems, pictureProblems } from "./kept-problems.ts";
import { partsOf } from "./subject-message.ts";
import { isAcknowledged, OWNER, readToolLog, type Subject, type SubjectMessage } from "./subject.ts";

/** In which order a client goes on: it sends the message again first, or a new one comes before that. */
export const RECOVERIES = ["again-first", "next-first"] as const;

/** How a client goes on. */
export type Recovery = (typeof RECOVERIES)[number];

/** What is known of the message during which the fault came. */
export interface Aftermath {
  readonly recovery: Recovery;
  /** The sender was told that it was handled. */
  readonly acknowledged: boolean;
}

const NEXT: SubjectMessage = { id: "d10", text: "what next" };
const LAST: SubjectMessage = { id: "d11", text: "and last" };

/** Recovers the files in `folder` in this process. @returns what does not hold, in words; nothing when all does */
export async function recover(folder: string, scenario: Scenario, aftermath: Aftermath): Promise<string[]> {
  let subject: Subject | undefined;
  try {
    subject = openPart(scenario, "after", folder);
    return await goOn(subject, { folder, scenario, ...aftermath });
  } catch (error) {
    return [
      `it cannot go on: ${error instanceof Error ? (error.stack ?? error.message) : errorMessage(error)}`,
    ];
  } finally {
    await subject?.close();
  }
}

/** A subject that is to go on. */
export interface GoingOn extends Aftermath {
  readonly folder: string;
  readonly scenario: Scenario;
}

/** Goes on with a subject that is open. */
export async function goOn(subject: Subject, going: GoingOn): Promise<string[]> {
  const { scenario } = going;
  const problems: string[] = [];
  subject.reachModel();
  const again = scenario.againApart === true ? partsOf(scenario.act) : [scenario.act];
  const sequence = going.recovery === "again-first" ? [...again, NEXT] : [NEXT, ...again, LAST];
  for (const { stops: _stops, ...message } of sequence) {
    const calls = subject.model.calls.length;
    const reply = await subject.send(message);
    const asked = subject.model.calls.length - calls;
    problems.push(
      ...(again.some(({ id }) => id === message.id)
        ? againProblems(going, reply, asked)
        : await nextProblems(subject, { message, reply, asked, scenario })),
    );
  }
  await subject.sessions.settled();
  return [...problems, ...(await storedProblems(subject, going))];
}

/** What was acknowledged is answered from what is stored; what was not can be handled now. */
function againProblems({ scenario, acknowledged }: GoingOn, reply: TurnReply, asked: number): string[] {
  if (acknowledged && asked > 0) return ["an acknowledged message was answered a second time"];
  const isDone = reply.envelope.code === scenario.refusedOnceDone;
  const isHandled =
    isAcknowledged(reply) || scenario.leaves === "nothing" || isWaitingStill(scenario, reply) || isDone;
  return isHandled ? [] : [`sent again, the message ended as ${reply.outcome}: ${reply.envelope.message}`];
}

/** The call of the tool that asks is `b`. */
function isDecidedAnew(line: string, { scenario, recovery }: GoingOn): boolean {
  return scenario.decidesAnew === true && recovery === "again-first" && line.endsWith("#b");
}

/** Sent again, it asks the person again. */
function isWaitingStill({ actFails = false }: Scenario, { envelope }: TurnReply): boolean {
  return actFails && envelope.code === "turn_waiting";
}

/** A message that came next, and what came of it. */
interface Sent {
  readonly message: SubjectMessage;
  readonly reply: TurnReply;
  /** Calls of the model. */
  readonly asked: number;
  readonly scenario: Scenario;
}

async function nextProblems(subject: Subject, { message, reply, asked, scenario }: Sent): Promise<string[]> {
  if (reply.outcome !== "answered")
    return [`${JSON.stringify(message.text)} ended as ${reply.outcome}: ${reply.envelope.message}`];
  if (asked !== 1) return [`the model was asked ${asked} times for ${JSON.stringify(message.text)}`];
  const call = subject.model.calls.at(-1);
  const stored = await readStored(subject);
  const readings = stored === undefined ? [] : [stored, withoutTurns(stored, scenario.erased)];
  // What is being erased is given no more, though it may still be there.
  const context = readings.map((reading) => contextProblems(call, reading));
  const isRight = context.some(({ length }) => length === 0);
  return [...inputProblems(call, message.text), ...(isRight ? [] : (context[0] ?? []))];
}

async function storedProblems(subject: Subject, going: GoingOn): Promise<string[]> {
  const { folder, recovery, scenario } = going;
  const stored = await readStored(subject);
  if (stored === undefined) return ["nothing is stored"];
  const { act, before, erased = [], leaves, sessions } = scenario;
  const said = before
    .map(({ id, text }) => (text === "/new" ? "" : id))
    .filter((id) => id !== "" && !erased.includes(id));
  const acts = partsOf(act).map(({ id }) => id);
  const isOwed = leaves === "turn" && (going.acknowledged || scenario.refusedOnceDone === undefined);
  const owed = isOwed ? [...said, ...acts] : said;
  const order = recovery === "again-first" ? [...said, ...acts, NEXT.id] : [...said, NEXT.id];
  const { length } = stored.chain.sessions;
  return [
    ...chainProblems(stored),
    ...turnProblems(stored, [...new Set([...owed, NEXT.id])]),
    ...orderProblems(stored, [...new Set(order)]),
    ...wholeTurnProblems(stored),
    ...toolProblems(readToolLog(folder).filter((line) => !isDecidedAnew(line, going))),
    ...(length === sessions ? [] : [`there are ${length} sessions, not ${sessions}`]),
    ...(leaves === "turn" ? [] : turnsOfNothing(stored, act.id)),
    ...(await sealProblems(subject)),
    ...(await pictureProblems(subject, stored)),
    ...(await factProblems(subject, scenario)),
    ...(await restProblems(subject, stored.chain.latest)),
  ];
}

function turnsOfNothing(
  { sessions }: { sessions: readonly { turns: readonly { deliveryId: string }[] }[] },
  id: string,
) {
  const isThere = sessions.some(({ turns }) => turns.some(({ deliveryId }) => deliveryId === id));
  return isThere ? [`delivery ${id} was stored as a turn`] : [];
}

async function sealProblems({ sessions: { repository } }: Subject): Promise<string[]> {
  const { problems } = await verifyOwner(repository, OWNER);
  return problems.map(
    ({ ordinal, turn, problem }) => `verify: session ${ordinal}, turn ${turn ?? "-"}: ${problem}`,
  );
}

/** LangGraph does not say what the values of a snapshot are. */
async function snapshotOf(
  { sessions: { graph } }: Subject,
  threadId: string,
): Promise<{ readonly values: SessionStateValues; readonly next: readonly string[] }> {
  const { next, values } = await graph.getState({ configurable: { thread_id: threadId } });
  return { next, values: values as SessionStateValues };
}

/** Nothing is left in flight in the thread of the latest session. */
async function restProblems(subject: Subject, latest: string): Promise<string[]> {
  const { values, next } = await snapshotOf(subject, latest);
  const ids = values.messages.map(({ id }) => id ?? "");
  return [
    ...(values.turn === null ? [] : [`a turn is still in flight: ${values.turn.deliveryId}`]),
    ...(next.length === 0 ? [] : [`the run still waits at ${next.join()}`]),
    ...(new Set(ids).size === ids.length ? [] : ["a message is twice in the state"]),
    ...strayProblems(values),
  ];
}

/** Every message of the state is of a committed turn, or a notice; every message of those turns is there. */
function strayProblems({ messages, window }: SessionStateValues): string[] {
  const committed = new Set(window.flatMap(({ messageIds }) => messageIds));
  const ids = new Set(messages.map(({ id }) => id));
  const strays = messages.filter((message) => !isNotice(message) && !committed.has(message.id ?? ""));
  const missing = [...committed].filter((id) => !ids.has(id));
  return [
    ...strays.map(
      ({ type, text }) => `the state holds a message of no turn: ${type} ${JSON.stringify(text)}`,
    ),
    ...missing.map((id) => `the state lacks message ${id} of a turn`),
  ];
}
