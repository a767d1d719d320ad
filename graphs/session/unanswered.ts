/** Finds the message of a thread that nobody is answering, because its program ended. Reads only: `admit` settles it. */
import { AIMessage } from "@langchain/core/messages";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import type { UnansweredMessage } from "#src/commands/unanswered-message.ts";
import type { KeyRef, SessionRepository } from "#src/sessions/repository.ts";
import type { KeyLock } from "#src/storage/backend.ts";
import { lockName } from "#src/turns/lock-name.ts";
import { findAnswer } from "#src/turns/stored-reply.ts";
import { readThread } from "./thread-state.ts";
import { messagesInFlight } from "./turn-messages.ts";

/** Where it is looked for. */
interface UnansweredSources {
  readonly checkpointer: BaseCheckpointSaver;
  readonly repository: SessionRepository;
  readonly locks: KeyLock;
}

/** Makes what finds the message of a key; `undefined` when there is none, also while a turn runs on the key. */
export function findUnanswered({ checkpointer, repository, locks }: UnansweredSources) {
  return async (ref: KeyRef): Promise<UnansweredMessage | undefined> => {
    const chain = await repository.readChain(ref);
    if (chain === undefined || (await locks.holder(lockName(ref))) !== undefined) return undefined;
    const { values, isWaiting } = await readThread(checkpointer, chain.latest);
    const { turn, messages = [], window = [] } = values;
    if (turn === undefined || turn === null) return undefined;
    const inFlight = messagesInFlight({ messages, window }, turn);
    const { deliveryId, text, startedAt: at } = turn;
    if (inFlight.length === 0 || (await findAnswer(repository, ref, deliveryId)) !== undefined)
      return undefined;
    const hasBegun = inFlight.some((message) => AIMessage.isInstance(message));
    return { deliveryId, text, at, state: isWaiting ? "waits" : hasBegun ? "begun" : "nothing" };
  };
}
