/** Opens what a fault has left, delivers the message again, sends the next ones, and says what does not hold. */
import { isNotice } from "#graphs/session/messages.ts";
import type { SessionStateValues } from "#graphs/session/state.ts";
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
import { openPart, type Scenario } from "./run-scenario.ts";
import { readStored, turnsOf, withoutTurns, type StoredKey } from "./stored.ts";
import { createBlobStore } from "#src/storage/store-session-repository.ts";
import { isAcknowledged, OWNER, partsOf, readToolLog, type Subject, type SubjectMessage } from "./subject.ts";

/** How a client goes on: it sends the message again first, or a new one comes before that. */
export const RECOVERIES = ["again-first", "next-first"] as const;
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
    return [`it cannot go on: ${error instanceof Error ? error.stack : String(error)}`];
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
        : await nextProblems(subject, scenario, { message, reply, asked })),
    );
  }
  await subject.sessions.settled();
  return [...problems, ...(await storedProblems(subject, going))];
}

/** What was acknowledged is answered from what is stored; what was not can be handled now. */
function againProblems({ scenario, acknowledged }: GoingOn, reply: TurnReply, asked: number): string[] {
  if (acknowledged && asked > 0) return ["an acknowledged message was answered a second time"];
  const isDone = reply.envelope.code === scenario.refusedOnceDone;
  // Sent again, it asks the person again.
  const isWaitingStill = scenario.actFails === true && reply.envelope.code === "turn_waiting";
  const isHandled = isAcknowledged(reply) || scenario.leaves === "nothing" || isWaitingStill || isDone;
  return isHandled ? [] : [`sent again, the message ended as ${reply.outcome}: ${reply.envelope.message}`];
}

/** `asked`: calls of the model for the message, which came after the one that was sent again. */
async function nextProblems(
  subject: Subject,
  scenario: Scenario,
  { message, reply, asked }: { message: SubjectMessage; reply: TurnReply; asked: number },
): Promise<string[]> {
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
  const { act, before, erased = [], leaves = "turn", sessions = 1 } = scenario;
  const said = before
    .map(({ id, text }) => (text === "/new" ? "" : id))
    .filter((id) => id !== "" && !erased.includes(id));
  const acts = partsOf(act).map(({ id }) => id);
  const isOwed = leaves === "turn" && (going.acknowledged || scenario.refusedOnceDone === undefined);
  const owed = isOwed ? [...said, ...acts] : said;
  const order = recovery === "again-first" ? [...said, ...acts, NEXT.id] : [...said, NEXT.id];
  const { length } = stored.chain.sessions;
  const isStored = turnsOf(stored).some(({ deliveryId }) => deliveryId === act.id);
  return [
    ...chainProblems(stored),
    ...turnProblems(stored, [...new Set([...owed, NEXT.id])]),
    ...orderProblems(stored, [...new Set(order)]),
    ...wholeTurnProblems(stored),
    ...toolProblems(readToolLog(folder)),
    ...(length === sessions ? [] : [`there are ${length} sessions, not ${sessions}`]),
    ...(leaves === "turn" || !isStored ? [] : [`delivery ${act.id} was stored as a turn`]),
    ...(await sealProblems(subject)),
    ...(await pictureProblems(subject, stored)),
    ...(await factProblems(subject, scenario)),
    ...(await restProblems(subject, stored.chain.latest)),
  ];
}

async function sealProblems({ sessions: { repository } }: Subject): Promise<string[]> {
  const { problems } = await verifyOwner(repository, OWNER);
  return problems.map(
    ({ ordinal, turn, problem }) => `verify: session ${ordinal}, turn ${turn ?? "-"}: ${problem}`,
  );
}

/** The content of every picture that a turn names is stored. */
async function pictureProblems({ storage }: Subject, stored: StoredKey): Promise<string[]> {
  const blobs = createBlobStore(storage.store);
  const problems: string[] = [];
  for (const { deliveryId, messages } of turnsOf(stored)) {
    for (const attachment of messages.flatMap(({ attachments = [] }) => attachments)) {
      const content = "sha256" in attachment ? await blobs.read(OWNER, attachment.sha256) : undefined;
      if (content === undefined) problems.push(`the picture of delivery ${deliveryId} is lost`);
    }
  }
  return problems;
}

/** Memory holds as many facts as it should. */
async function factProblems({ storage }: Subject, { facts = 0 }: Scenario): Promise<string[]> {
  const items = await storage.store.search(["memory"], { limit: 100 });
  const texts = items.flatMap(({ value }) => (typeof value["text"] === "string" ? [value["text"]] : []));
  return texts.length === facts ? [] : [`memory holds ${JSON.stringify(texts)}, not ${facts} facts`];
}

/** Nothing is left in flight in the latest session, and its thread shows the messages of its turns, each once. */
async function restProblems({ sessions: { graph } }: Subject, latest: string): Promise<string[]> {
  const { next, values } = await graph.getState({ configurable: { thread_id: latest } });
  // LangGraph does not say what the values of a snapshot are.
  const { messages, turn, window } = values as SessionStateValues;
  // A message that was told as failed stands beside the turns, with a notice.
  const notices = new Set(messages.filter(isNotice).map(({ id }) => id));
  const shown = messages.map(({ id }) => id).filter((id) => !notices.has(id));
  const committed = window.flatMap(({ messageIds }) => messageIds).filter((id) => !notices.has(id));
  return [
    ...(turn === null ? [] : [`a turn is still in flight: ${turn.deliveryId}`]),
    ...(next.length === 0 ? [] : [`the run still waits at ${next.join()}`]),
    ...(shown.join() === committed.join()
      ? []
      : [`the thread shows messages ${shown.join()}, its turns have ${committed.join()}`]),
  ];
}
