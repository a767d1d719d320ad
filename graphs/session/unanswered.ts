/** Finds the message of a key that nobody is answering, because its program ended. Reads only: `admit` settles it. */
import { AIMessage } from "@langchain/core/messages";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import type { UnansweredMessage } from "#src/commands/unanswered-message.ts";
import type { KeyRef, SessionRepository } from "#src/sessions/repository.ts";
import type { KeyLock } from "#src/storage/backend.ts";
import type { OpenApproval } from "#src/turns/answer-approval.ts";
import { lockName } from "#src/sessions/session-key.ts";
import { findAnswer } from "#src/turns/turn-reply.ts";
import { readInFlight, type InFlight } from "./in-flight.ts";

/** Where it is looked for. */
interface UnansweredSources {
  readonly store: BaseStore;
  readonly repository: SessionRepository;
  readonly locks: KeyLock;
}

/** Makes what finds the call of a key that a person is asked about. */
export function findApproval({ store, repository }: Pick<UnansweredSources, "store" | "repository">) {
  return async (ref: KeyRef): Promise<OpenApproval | undefined> => {
    const left = await readInFlight(store, ref);
    if (left?.call?.state !== "asked" || left.call.approval === undefined) return undefined;
    const { deliveryId } = left.turn;
    if ((await repository.readChain(ref))?.latest !== left.sessionId) return undefined;
    if ((await findAnswer(repository, ref, deliveryId)) !== undefined) return undefined;
    return { sessionId: left.sessionId, deliveryId, approval: left.call.approval };
  };
}

/** Makes what finds the message of a key; `undefined` when there is none, also while a turn runs on the key. */
export function findUnanswered({ store, repository, locks }: UnansweredSources) {
  return async (ref: KeyRef): Promise<UnansweredMessage | undefined> => {
    const left = await readInFlight(store, ref);
    if (left === undefined || (await locks.holder(lockName(ref))) !== undefined) return undefined;
    const { deliveryId, text, startedAt: at } = left.turn;
    if ((await findAnswer(repository, ref, deliveryId)) !== undefined) return undefined;
    return { deliveryId, text, at, state: stateOf(left) };
  };
}

/** A tool waits for a person; the model had begun to answer; or nothing had happened yet. */
function stateOf({ call, messages }: InFlight): UnansweredMessage["state"] {
  if (call?.state === "asked") return "waits";
  return messages.some((message) => AIMessage.isInstance(message)) ? "begun" : "nothing";
}
