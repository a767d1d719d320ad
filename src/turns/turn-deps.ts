/** What `runTurn` works with to take a message to its reply. */
import type { Ids } from "#src/kernel/ids.ts";
import type { Envelope } from "#src/kernel/envelope.ts";
import type { KeyRef, SessionRepository } from "#src/sessions/repository.ts";
import type { LifecycleMode } from "#src/sessions/rollover-policy.ts";
import type { KeyLock, LeaseRef } from "#src/storage/backend.ts";
import type { ArrivalSources } from "./arrival-policy.ts";
import type { Bursts } from "./burst.ts";
import type { InboundMessage, SessionRunner } from "./runner.ts";
import type { StopRegistry } from "./stop-registry.ts";
import type { StopRequests } from "./stop-requests.ts";
import type { Timer } from "./timer.ts";
import type { TurnReply } from "./turn-reply.ts";

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

/** What `runTurn` works with. */
export interface TurnDeps {
  readonly ids: Ids;
  readonly runner: SessionRunner;
  readonly repository: SessionRepository;
  /** The same for the run that holds a lease, which reads once what it has read already; `repository` by default. */
  readonly repositoryUnder?: (lease: LeaseRef) => SessionRepository;
  readonly locks: KeyLock;
  readonly stops: StopRegistry;
  readonly readCommand: ReadCommand;
  readonly messageCharacters: number;
  readonly botNames: readonly string[];
  /** `segmented` by default. */
  readonly lifecycleMode?: LifecycleMode;
  /** Longest wait for another turn on the key, in milliseconds. */
  readonly lockWaitMs: number;
  /** Asked before each run. */
  readonly beforeRun?: BeforeRun;
  /** Called after a run on a session, which may have sealed it; must not throw. */
  readonly afterTurn?: (sessionId: string, isSealed: boolean) => void;
  /** How many stored states of a session were met that are damaged, and that nobody was told of yet. */
  readonly takeDamaged?: (sessionId: string) => number;
  /** Why the state after the last run on a session could not be stored, if nobody was told yet. */
  readonly takeLag?: (sessionId: string) => string | undefined;
  /** The system's by default. */
  readonly timer?: Timer;
  /** Stops turns that run in other processes; without it only those of this one are stopped. */
  readonly stopRequests?: StopRequests;
  /** Without it each message waits for its own turn. The runner has to store `collected` deliveries. */
  readonly arrivals?: { readonly sources: ArrivalSources; readonly bursts: Bursts };
}
