/** What `runTurn` works with to take a message to its reply. */
import type { Ids } from "#src/kernel/ids.ts";
import type { SessionRepository } from "#src/sessions/repository.ts";
import type { LifecycleMode } from "#src/sessions/rollover-policy.ts";
import type { KeyLock } from "#src/storage/backend.ts";
import type { ArrivalSources } from "./arrival-policy.ts";
import type { Bursts } from "./burst.ts";
import type { SessionRunner } from "./runner.ts";
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

/** What `runTurn` works with. */
export interface TurnDeps {
  readonly ids: Ids;
  readonly runner: SessionRunner;
  readonly repository: SessionRepository;
  readonly locks: KeyLock;
  readonly stops: StopRegistry;
  readonly readCommand: ReadCommand;
  readonly messageCharacters: number;
  readonly botNames: readonly string[];
  /** `segmented` by default. */
  readonly lifecycleMode?: LifecycleMode;
  /** Longest wait for another turn on the key, in milliseconds. */
  readonly lockWaitMs: number;
  /** Called after a run on a session, which may have sealed it; must not throw. */
  readonly afterTurn?: (sessionId: string, isSealed: boolean) => void;
  /** The system's by default. */
  readonly timer?: Timer;
  /** Stops turns that run in other processes; without it only those of this one are stopped. */
  readonly stopRequests?: StopRequests;
  /** Without it each message waits for its own turn. The runner has to store `collected` deliveries. */
  readonly arrivals?: { readonly sources: ArrivalSources; readonly bursts: Bursts };
}
