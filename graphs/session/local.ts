/** The session graph on a local backend, behind `runTurn`: what the terminal, the routes and the evals talk to. */
import { createBesideTurns, type BesideTurns } from "#src/app/beside-turns.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import type { CommandContext } from "#src/commands/command.ts";
import type { UnansweredMessage } from "#src/commands/unanswered-message.ts";
import type { ErasureDeps } from "#src/erasure/place.ts";
import type { KeyRef, SessionRepository } from "#src/sessions/repository.ts";
import type { StorageBackend } from "#src/storage/backend.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import { answerApproval, type ApprovalAnswer, type OpenApproval } from "#src/turns/answer-approval.ts";
import { Arrivals } from "#src/turns/arrivals.ts";
import { runTurn, type RunTurnDeps, type TurnRequest } from "#src/turns/run-turn.ts";
import type { TurnReply } from "#src/turns/turn-reply.ts";
import { compileSessionGraph, type CompiledSessionGraph } from "./graph.ts";
import { eraseFirst } from "./erase-first.ts";
import { previewText } from "#src/erasure/preview.ts";
import { createReadCommand, createReadContext, type ReadSources } from "./read-command.ts";
import { createSessionRunner } from "./runner.ts";
import { findApproval, findUnanswered } from "./unanswered.ts";

/** Sessions on one backend. */
export interface LocalSessions {
  /** Takes one message to its reply. */
  send(request: TurnRequest): Promise<TurnReply>;
  /** Stops the turn that runs on the key, in whatever process; what there is of its answer is kept. `false`: none ran. */
  stop(ref: KeyRef): Promise<boolean>;
  /** Goes on with a turn that waits for a person's decision on a call of a tool. */
  approve(answer: ApprovalAnswer): Promise<TurnReply>;
  /** The call of a key that a person is asked about. Reads only. */
  openApproval(ref: KeyRef): Promise<OpenApproval | undefined>;
  /** The message of a key that a program which ended has left unanswered. Reads only. */
  unanswered(ref: KeyRef): Promise<UnansweredMessage | undefined>;
  /** What a command that reads would look at in a session of the key; in the latest one where there is no such session. */
  contextOf(ref: KeyRef, sessionId: string): Promise<CommandContext>;
  /** Transcripts, chains and explanations, for reading. */
  readonly repository: SessionRepository;
  /** The same graph, for whoever drives it by LangGraph's own methods. */
  readonly graph: CompiledSessionGraph;
  /** Waits for upkeep that runs beside turns. */
  settled(): Promise<void>;
}

export interface LocalOptions {
  /** Turns whose checkpoints are kept. */
  readonly keepTurns: number;
  /** Longest wait for another turn on the key. */
  readonly lockWaitMs?: number;
  /** What an erasure takes along beside the storage, and how long it waits for a key. */
  readonly erasing?: Pick<ErasureDeps, "typed" | "keyWaitMs">;
  /** Told of upkeep that failed; turns go on. */
  readonly onUpkeepError?: (error: unknown) => void;
}

/** Builds the graph on a backend. What a message takes is made when one comes: a program may only show where it stands. */
export function openLocalSessions(
  deps: SessionDeps,
  storage: StorageBackend,
  options: LocalOptions,
): LocalSessions {
  const graph = once(() => compileSessionGraph(deps, storage));
  const repository = createStoreSessionRepository(storage.store);
  const unanswered = findUnanswered({ ...storage, repository });
  const openApproval = findApproval({ ...storage, repository });
  const { keepTurns, onUpkeepError: onError = () => undefined } = options;
  const upkeep = createBesideTurns(deps, storage, { keepTurns, onError });
  const turnDeps = once(() => turnDepsOf(deps, storage, options, { graph, repository, unanswered, upkeep }));
  const answered = (owner: string, reply: TurnReply): TurnReply => {
    // A reply that is no turn has read at most, and reading leads to no write.
    if (reply.turn !== null) upkeep.afterReply(owner);
    return reply;
  };
  return {
    get graph() {
      return graph();
    },
    repository,
    send: async (request) => answered(request.owner, await runTurn(turnDeps(), request)),
    approve: async (answer) =>
      answered(answer.owner, await answerApproval({ ...turnDeps(), openApproval }, answer)),
    openApproval,
    stop: async (ref) => (await turnDeps().arrivals.stop(turnDeps(), ref, deps.ids.uuid())).kind === "asked",
    contextOf: (ref, sessionId) => turnDeps().contextOf(ref, sessionId),
    unanswered,
    settled: upkeep.settled,
  };
}

/** Parts of the sessions of one backend. */
interface LocalParts extends Pick<LocalSessions, "repository" | "unanswered"> {
  readonly graph: () => CompiledSessionGraph;
  readonly upkeep: BesideTurns;
}

function turnDepsOf(
  deps: SessionDeps,
  storage: StorageBackend,
  options: LocalOptions,
  { graph, repository, unanswered, upkeep }: LocalParts,
): RunTurnDeps & Pick<LocalSessions, "contextOf"> {
  const runner = createSessionRunner(graph, storage.checkpointer);
  const erasure: ErasureDeps = { ...options.erasing, storage, clock: deps.clock, ids: deps.ids };
  const sources: ReadSources = {
    unanswered,
    repository,
    runner,
    store: storage.store,
    erasing: (owner) => ({ preview: (wanted) => previewText(erasure, { owner, ...wanted }) }),
  };
  const contextOf = createReadContext(deps, sources);
  return {
    ids: deps.ids,
    runner,
    repository,
    locks: storage.locks,
    store: storage.store,
    stops: deps.stops,
    arrivals: new Arrivals(deps.arrivals),
    readCommand: createReadCommand(deps, sources),
    contextOf: (ref, sessionId) => contextOf(ref, "", sessionId),
    beforeRun: eraseFirst(deps, { erasure, contextOf, settled: upkeep.settled }),
    messageCharacters: deps.limits.messageCharacters,
    botNames: deps.botNames,
    lifecycleMode: deps.lifecycleMode,
    lockWaitMs: options.lockWaitMs ?? 600_000,
    takeDropped: (sessionId) => storage.checkpointer.takeDropped(sessionId),
    afterTurn: upkeep.afterTurn,
  };
}

/** What `make` makes when it is asked for first: a program that ends without a turn compiles no graph. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
