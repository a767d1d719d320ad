/** A message on its way in, and what `runTurn` works with to take it to its reply. */
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import type { Ids } from "#src/kernel/ids.ts";
import type { Envelope } from "#src/kernel/envelope.ts";
import type { KeyRef, SessionRepository } from "#src/sessions/repository.ts";
import type { LifecycleMode } from "#src/sessions/rollover-policy.ts";
import type { KeyLock, LeaseRef } from "#src/storage/backend.ts";
import type { InboundMessage, SessionRunner, TurnEvent } from "./runner.ts";
import type { StopRegistry } from "./stop.ts";
import type { TurnReply } from "./turn-reply.ts";

/** A message on its way in. */
export interface TurnRequest {
  readonly owner: string;
  readonly sessionKey: string;
  /** Text, or content parts that are all text. */
  readonly content: unknown;
  /** The channel's id of the message; without it each call is a message of its own. */
  readonly deliveryId?: string;
  /** Stops the answer that is being written; what there is of it is kept. */
  readonly stop?: AbortSignal;
  readonly onEvent?: (event: TurnEvent) => void;
}

/** Answers a command that changes nothing, beside any turn that runs. */
export type ReadCommand = (request: {
  readonly owner: string;
  readonly sessionKey: string;
  readonly deliveryId: string;
  readonly name: string;
  readonly args: string;
}) => Promise<TurnReply>;

/** How a run begins when something was done before it: with another message, with what it is to tell; or not at all. */
export type RunAfter =
  | { readonly kind: "run"; readonly message: InboundMessage; readonly erased?: Envelope }
  | { readonly kind: "reply"; readonly reply: TurnReply };

/** Does before a run what must not leave a trace in it, under the lock of its key; mostly nothing. */
export type BeforeRun = (turn: {
  readonly ref: KeyRef;
  readonly message: InboundMessage;
  readonly lease: LeaseRef;
}) => Promise<RunAfter | undefined>;

/** What a turn under the lock of its key works with. */
export interface TurnDeps {
  readonly ids: Ids;
  readonly runner: SessionRunner;
  readonly repository: SessionRepository;
  readonly locks: KeyLock;
  /** Where turns of other processes look for requests to stop. */
  readonly store: BaseStore;
  readonly stops: StopRegistry;
  readonly readCommand: ReadCommand;
  readonly messageCharacters: number;
  readonly botNames: readonly string[];
  readonly lifecycleMode: LifecycleMode;
  /** Longest wait for another turn on the key, in milliseconds. */
  readonly lockWaitMs: number;
  /** Asked before each run. */
  readonly beforeRun?: BeforeRun;
  /** Called after a run on a session, which may have sealed it; must not throw. */
  readonly afterTurn?: (sessionId: string, isSealed: boolean) => void;
  /** Whether checkpoints of a session could not be read and were dropped, and nobody was told of it yet. */
  readonly takeDropped?: (sessionId: string) => boolean;
}
