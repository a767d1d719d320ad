/** The session graph on a local backend, behind `runTurn`: what the terminal, the routes and the evals talk to. */
import { AIMessageChunk, HumanMessage } from "@langchain/core/messages";
import { Command } from "@langchain/langgraph";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import { type BesideTurns, createBesideTurns } from "#src/app/beside-turns.ts";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { erasedText, erasesEverywhere, type ForgetFlags } from "#src/commands/catalog/forget.ts";
import { withMemory } from "#src/commands/catalog/memory/memory-action.ts";
import { type CommandContext, orRefusal } from "#src/commands/command.ts";
import { parseCommand } from "#src/commands/parse-command.ts";
import type { UnansweredMessage } from "#src/commands/unanswered-message.ts";
import { erase } from "#src/erasure/erase.ts";
import type { ErasureDeps } from "#src/erasure/place.ts";
import { receiptEnvelope } from "#src/erasure/receipt.ts";
import { errorMessage, LilyError } from "#src/kernel/errors.ts";
import type { KeyRef, SessionRepository } from "#src/sessions/repository.ts";
import { sessionFieldsSchema } from "#src/sessions/session-fields.ts";
import type { StorageBackend } from "#src/storage/backend.ts";
import { createStoreSessionRepository } from "#src/storage/store-session-repository.ts";
import { approvalIn, waitingEnvelope } from "#src/tools/approval.ts";
import { answerApproval, type ApprovalAnswer, type OpenApproval } from "#src/turns/answer-approval.ts";
import { Arrivals } from "#src/turns/arrivals.ts";
import { contentText } from "#src/turns/langchain-messages.ts";
import { runTurn, type RunTurnDeps } from "#src/turns/run-turn.ts";
import type { BeforeRun, RunAfter, TurnRequest } from "#src/turns/turn-deps.ts";
import type { GraphRun, GraphRunOutcome, SessionRunner, TurnEvent } from "#src/turns/runner.ts";
import { findAnswer, refusal, type TurnReply } from "#src/turns/turn-reply.ts";
import { createReadCommand, createReadContext } from "./command-context.ts";
import { type CompiledSessionGraph, compileSessionGraph } from "./graph.ts";
import { findApproval, findUnanswered } from "./in-flight.ts";
import type { SessionStateValues } from "./state.ts";

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

interface LocalOptions {
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
  const { locks, store, checkpointer } = storage;
  const { settled, afterTurn } = upkeep;
  const contextOf = createReadContext(deps, { repository, runner, store, erasure, unanswered });
  return {
    ids: deps.ids,
    runner,
    repository,
    locks,
    store,
    stops: deps.stops,
    arrivals: new Arrivals(deps.arrivalsOf),
    readCommand: createReadCommand(contextOf),
    contextOf: (ref, sessionId) => contextOf(ref, "", sessionId),
    beforeRun: eraseFirst(deps, { erasure, settled }, contextOf),
    messageCharacters: deps.limits.messageCharacters,
    botNames: deps.botNames,
    lifecycleMode: deps.lifecycleMode,
    lockWaitMs: options.lockWaitMs ?? 600_000,
    takeDropped: (sessionId) => checkpointer.takeDropped(sessionId),
    afterTurn,
  };
}

/** What the conversation keeps of the message. */
const WITHOUT_WORDS = "/forget … --everywhere --yes";

/** Makes what `runTurn` asks before each run: `/forget … --everywhere --yes` erases before the graph sees it. */
function eraseFirst(
  { botNames }: Pick<SessionDeps, "botNames">,
  { erasure, settled }: { readonly erasure: ErasureDeps; readonly settled: BesideTurns["settled"] },
  contextOf: ReturnType<typeof createReadContext>,
): BeforeRun {
  return async ({ ref, message, lease }): Promise<RunAfter | undefined> => {
    const flags = flagsIn(message.content, botNames);
    if (flags === undefined) return undefined;
    const { owner, sessionKey } = ref;
    const withoutWords = { ...message, content: WITHOUT_WORDS };
    const context = await contextOf(ref, message.id);
    // It was done before, and the stored reply tells of it.
    const isRepeated = (await findAnswer(context.repository, ref, message.id)) !== undefined;
    if (isRepeated || context.memory === undefined) return { kind: "run", message: withoutWords };
    const text = await orRefusal(() => erasedText(withMemory(context), flags));
    if (typeof text !== "string") {
      const { sessionId } = context.session;
      return { kind: "reply", reply: refusal(text, { sessionId, deliveryId: message.id }) };
    }
    // Upkeep beside turns may write what it has read before.
    await settled();
    const receipt = await erase(erasure, {
      owner,
      text,
      asked: flags.text,
      held: { ref: { owner, sessionKey }, lease },
    });
    return { kind: "run", message: withoutWords, erased: receiptEnvelope(receipt) };
  };
}

/** The flags of a command that erases everywhere; `undefined` for everything else. */
function flagsIn(content: unknown, botNames: readonly string[]): ForgetFlags | undefined {
  if (typeof content !== "string" || !content.includes("--everywhere")) return undefined;
  const parsed = parseCommand(content, botNames);
  if (parsed.kind !== "command" || parsed.name !== "forget") return undefined;
  return erasesEverywhere(parsed.args);
}

/** What `make` makes when it is asked for first: a program that ends without a turn compiles no graph. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

/** What nodes say by themselves on the way. */
const eventSchema = z.union([
  z.object({ type: z.literal("tool"), name: z.string() }),
  z.object({ type: z.literal("notice"), text: z.string() }),
]);

/** Makes the runner of a graph, which is compiled for the first run; `checkpointer` is the one that it has. */
export function createSessionRunner(
  compile: () => CompiledSessionGraph,
  checkpointer: BaseCheckpointSaver,
): SessionRunner {
  return {
    run: (request) => run(compile(), request),
    async readSession(threadId) {
      const tuple = await checkpointer.getTuple({ configurable: { thread_id: threadId } });
      return sessionFieldsSchema.safeParse(tuple?.checkpoint.channel_values["session"]).data;
    },
  };
}

async function run(graph: CompiledSessionGraph, request: GraphRun): Promise<GraphRunOutcome> {
  let last: Result | undefined;
  if (request.resume !== undefined) await requireWaiting(graph, request);
  try {
    for await (const [mode, part] of await streamOf(graph, request)) {
      if (mode === "values") last = part as Result;
      else if (request.onEvent !== undefined) emit(mode, part, request.onEvent);
    }
  } catch (error) {
    // LangGraph does not say of what a run was aborted.
    request.signal?.throwIfAborted();
    const outcome = decided(last);
    // What is committed stands, whatever becomes of its checkpoint. A question that waits lives in the checkpoint alone.
    if (outcome === undefined) throw error;
    return { ...outcome, unstored: errorMessage(error) };
  }
  return decided(last) ?? waiting(last, request);
}

/** @throws {LilyError} `turn_conflict` when the thread has nothing that waits */
async function requireWaiting(graph: CompiledSessionGraph, { threadId }: GraphRun): Promise<void> {
  const { tasks } = await graph.getState({ configurable: { thread_id: threadId } });
  if (tasks.some(({ interrupts }) => interrupts.length > 0)) return;
  throw new LilyError(
    "turn_conflict",
    "the question is there, and the checkpoint in which its turn waits is not",
    {
      next: "Nothing was run. Send the message again with the same delivery id, and it is asked again.",
    },
  );
}

/** Pairs of a mode and its part, as LangGraph gives them with a list of modes. */
async function streamOf(
  graph: CompiledSessionGraph,
  request: GraphRun,
): Promise<AsyncIterable<[mode: string, part: unknown]>> {
  const { owner, sessionKey, fence, signal, resume } = request;
  return graph.stream(resume === undefined ? { messages: [messageOf(request)] } : new Command({ resume }), {
    configurable: { thread_id: request.threadId },
    context: { owner, sessionKey, followsHandoff: true, fence },
    // One checkpoint a run: what must not be done twice stands in the Store.
    durability: "exit",
    // Whoever does not listen is told the end alone.
    streamMode: request.onEvent === undefined ? ["values"] : ["messages", "custom", "values"],
    // Above what the limits of a turn allow: each call of a tool is a step, and so is one that is refused.
    recursionLimit: 400,
    ...(signal === undefined ? {} : { signal }),
  });
}

function messageOf({ message }: GraphRun): HumanMessage {
  // Content is checked in the graph; a client may have sent anything.
  return new HumanMessage({ id: message.id, content: message.content as string });
}

/** Each field was checked as it was written. */
type Result = Partial<Pick<SessionStateValues, "reply" | "handoff">>;

/** How a run has ended, once its values say so. */
function decided(values: Result | undefined): GraphRunOutcome | undefined {
  const { reply, handoff } = values ?? {};
  if (handoff !== null && handoff !== undefined) return { kind: "handoff", ...handoff };
  return reply === null || reply === undefined ? undefined : { kind: "reply", reply };
}

const interruptsSchema = z.object({ __interrupt__: z.array(z.object({ value: z.unknown() })) });

/** The run waits for a person: for their word on a call of a tool, which can be given here, or for what a tool asks itself. */
function waiting(values: unknown, { threadId, message }: GraphRun): GraphRunOutcome {
  const interrupts = interruptsSchema.safeParse(values).data?.__interrupt__;
  if (interrupts === undefined)
    throw new LilyError("internal", "the run ended without a reply", { next: "Send the message again." });
  const approval = approvalIn(interrupts[0]?.value);
  if (approval === undefined)
    throw new LilyError("turn_waiting", "a tool waits for a person's decision, which cannot be given here", {
      next: "Resume the thread with a LangGraph client, or send another message: the tool then counts as not approved.",
    });
  const where = { sessionId: threadId, deliveryId: message.id };
  return { kind: "reply", reply: { ...refusal(waitingEnvelope(approval), where), outcome: "failed" } };
}

function emit(mode: string, payload: unknown, onEvent: (event: TurnEvent) => void): void {
  if (mode === "custom") {
    const event = eventSchema.safeParse(payload);
    if (event.success) onEvent(event.data);
  } else if (mode === "messages" && Array.isArray(payload) && AIMessageChunk.isInstance(payload[0])) {
    const text = contentText(payload[0].content);
    if (text !== "") onEvent({ type: "token", text });
  }
}
