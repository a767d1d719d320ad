/** The one way in for a message: checks it, takes the key's lock, runs the graph on `latest`, follows hand-offs. */
import { parseCommand } from "#src/commands/parse-command.ts";
import { isReadOnly, isRefusal, type Command } from "#src/commands/command.ts";
import { findCommand } from "#src/commands/registry.ts";
import { envelopeOf } from "#src/kernel/envelope.ts";
import { isLilyError, LilyError } from "#src/kernel/errors.ts";
import type { Ids } from "#src/kernel/ids.ts";
import { encodeLabel } from "#src/kernel/namespace-label.ts";
import { latestEntry, openedBy } from "#src/sessions/chain.ts";
import type { LifecycleMode } from "#src/sessions/rollover-policy.ts";
import type { SessionRepository } from "#src/sessions/repository.ts";
import { parseDeliveryId, parseOwner, parseSessionKey } from "#src/sessions/session-key.ts";
import type { KeyLock, Lease } from "#src/storage/backend.ts";
import { parseInboundText } from "./inbound.ts";
import type { InboundMessage, SessionRunner, TurnEvent } from "./runner.ts";
import type { StopRegistry } from "./stop-registry.ts";
import { refusal, type TurnReply } from "./turn-reply.ts";

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
  /** Called after a run on a session; must not throw. */
  readonly afterTurn?: (sessionId: string) => void;
}

/** A message handed from session to session more often than this is going in circles. */
const MAX_HANDOFFS = 5;

/**
 * Takes one message to its reply. Never throws for what a person or program can do wrong: such a reply has outcome
 * `refused` or `failed` and the code in its envelope.
 */
export async function runTurn(deps: TurnDeps, request: TurnRequest): Promise<TurnReply> {
  let message: InboundMessage;
  try {
    parseOwner(request.owner);
    parseSessionKey(request.sessionKey);
    const text = parseInboundText(request.content, deps.messageCharacters);
    message = {
      id: request.deliveryId === undefined ? deps.ids.uuid() : parseDeliveryId(request.deliveryId),
      content: text,
    };
    const asked = commandIn(deps, text);
    if (asked !== undefined && isReadOnly(asked.command)) {
      return await deps.readCommand({
        ...request,
        deliveryId: message.id,
        name: asked.command.name,
        args: asked.args,
      });
    }
    if (asked?.command.kind === "rotating")
      await stopRunning(deps, request, { ...asked, deliveryId: message.id });
  } catch (error) {
    return refusal(envelopeOf(error), { deliveryId: request.deliveryId ?? "" });
  }
  return underLock(deps, request, message);
}

function commandIn(deps: TurnDeps, text: string): { command: Command; args: string } | undefined {
  const parsed = parseCommand(text, deps.botNames);
  if (parsed.kind !== "command") return undefined;
  const command = findCommand(parsed.name);
  return command === undefined ? undefined : { command, args: parsed.args };
}

/**
 * A command that ends the session does not wait for the turn that it is meant to end. One that was handled before, or
 * that will be refused, ends nothing.
 */
async function stopRunning(
  deps: TurnDeps,
  request: TurnRequest,
  asked: { readonly command: Command; readonly args: string; readonly deliveryId: string },
): Promise<void> {
  const running = deps.stops.runningOn(lockName(request));
  if (running === undefined || running.deliveryId === asked.deliveryId) return;
  const { command, args, deliveryId } = asked;
  if (command.kind === "rotating" && deps.lifecycleMode === "legacy" && command.clearsInPlace !== true)
    return;
  const chain = await deps.repository.readChain(request);
  if (command.kind !== "rotating" || chain === undefined || openedBy(chain, deliveryId) !== undefined) return;
  const session = (await deps.runner.readState(chain.latest))?.session;
  const plan = session && command.plan(args, { chain, entry: latestEntry(chain), session });
  if (plan === undefined || !isRefusal(plan)) running.stop.abort(new Error("stopped by the user"));
}

async function underLock(deps: TurnDeps, request: TurnRequest, message: InboundMessage): Promise<TurnReply> {
  let lease: Lease | undefined;
  const { stop, leave } = ownStop(request.stop);
  try {
    lease = await deps.locks.acquire(lockName(request), {
      waitMs: deps.lockWaitMs,
      ...(request.stop === undefined ? {} : { signal: request.stop }),
      onWait: () => request.onEvent?.({ type: "waiting" }),
    });
    return await follow(deps, request, { message, lease, stop });
  } catch (error) {
    const wasStopped = lease === undefined && request.stop?.aborted === true;
    const reason = wasStopped ? stoppedWhileWaiting(error) : error;
    return { ...refusal(envelopeOf(reason), { deliveryId: message.id }), outcome: "failed" };
  } finally {
    leave();
    await lease?.release();
  }
}

function stoppedWhileWaiting(error: unknown): unknown {
  if (isLilyError(error)) return error;
  return new LilyError("turn_stopped", "stopped while it waited for another turn", {
    next: "The message was not stored; send it again when you want.",
  });
}

/** Name of the lock of a key; owner and key are labels, so "/" separates them safely. */
export function lockName(ref: { readonly owner: string; readonly sessionKey: string }): string {
  return `turn/${encodeLabel(ref.owner)}/${encodeLabel(ref.sessionKey)}`;
}

/** A stop of the turn's own, which the caller's signal triggers too until `leave` is called. */
function ownStop(signal: AbortSignal | undefined): { stop: AbortController; leave: () => void } {
  const stop = new AbortController();
  const pass = (): void => stop.abort(signal?.reason);
  if (signal?.aborted === true) pass();
  signal?.addEventListener("abort", pass, { once: true });
  return { stop, leave: () => signal?.removeEventListener("abort", pass) };
}

interface UnderWay {
  readonly message: InboundMessage;
  readonly lease: Lease;
  readonly stop: AbortController;
}

async function follow(deps: TurnDeps, request: TurnRequest, turn: UnderWay): Promise<TurnReply> {
  const leave = deps.stops.onKey(turn.lease.lockName, { deliveryId: turn.message.id, stop: turn.stop });
  try {
    return await followHandoffs(deps, request, turn);
  } finally {
    leave();
  }
}

async function followHandoffs(deps: TurnDeps, request: TurnRequest, turn: UnderWay): Promise<TurnReply> {
  const chain = await deps.repository.readChain(request);
  let threadId = chain?.latest ?? deps.ids.uuid();
  let next = turn.message;
  for (let hop = 0; hop <= MAX_HANDOFFS; hop += 1) {
    const outcome = await runOn(deps, request, { ...turn, threadId, message: next });
    if (outcome.kind === "reply") return outcome.reply;
    threadId = outcome.sessionId;
    next = outcome.message;
  }
  throw new LilyError("turn_loop", `the message was handed on ${MAX_HANDOFFS} times without an answer`, {
    next: "lily verify names what is wrong with the conversation; the message was not stored.",
  });
}

async function runOn(deps: TurnDeps, request: TurnRequest, on: UnderWay & { readonly threadId: string }) {
  const { threadId, message, lease, stop } = on;
  request.onEvent?.({ type: "session", sessionId: threadId });
  const leave = deps.stops.onSession(threadId, stop.signal);
  try {
    return await deps.runner.run({
      threadId,
      owner: request.owner,
      sessionKey: request.sessionKey,
      message,
      fence: { lockName: lease.lockName, token: lease.token },
      signal: lease.lost,
      ...(request.onEvent === undefined ? {} : { onEvent: request.onEvent }),
    });
  } finally {
    leave();
    deps.afterTurn?.(threadId);
  }
}
