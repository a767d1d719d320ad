/** The one way in for a message: checks it, waits for its key, runs the graph, follows the hand-off. */
import { parseCommand } from "#src/commands/parse-command.ts";
import { isRefusal, readsOnly, type Command } from "#src/commands/command.ts";
import { stopCommand } from "#src/commands/catalog/stop.ts";
import { findCommand } from "#src/commands/registry.ts";
import { envelopeOf } from "#src/kernel/envelope.ts";
import { latestEntry, openedBy } from "#src/sessions/chain.ts";
import { parseDeliveryId, parseOwner, parseSessionKey } from "#src/sessions/session-key.ts";
import type { Arrivals } from "./arrivals.ts";
import { parseInbound } from "./inbound.ts";
import type { TurnEvent } from "./runner.ts";
import { boundWait, isRunning, requestStop, stopEnvelope, type StopAsked, type StopOutcome } from "./stop.ts";
import { takeTurn, withKey } from "./take-turn.ts";
import type { TurnDeps, TurnRequest } from "./turn-deps.ts";
import { refusal, unstoredEnvelope, type TurnReply } from "./turn-reply.ts";

export type { ReadCommand } from "./turn-deps.ts";
export type { TurnRequest } from "./turn-deps.ts";

/** What `runTurn` works with. */
export interface RunTurnDeps extends TurnDeps {
  readonly arrivals: Arrivals;
}

/** A message that was checked. */
interface Checked extends TurnRequest {
  readonly deliveryId: string;
  readonly text: string;
  /** A command that exists; `other` for one that does not, or is for somebody else, and for text with attachments. */
  readonly kind: "text" | "command" | "other";
  readonly asked?: { readonly command: Command; readonly args: string };
}

/**
 * Takes one message to its reply. Never throws for what a person or program can do wrong: such a reply has outcome
 * `refused` or `failed` and the code in its envelope. What a listener throws changes nothing.
 */
export async function runTurn(deps: RunTurnDeps, request: TurnRequest): Promise<TurnReply> {
  try {
    const message = check(deps, request);
    if (message.asked !== undefined && readsOnly(message.asked.command, message.asked.args))
      return await answerBeside(deps, message, message.asked);
    if (message.kind === "text" && deps.arrivals.joins(message.sessionKey))
      return await deps.arrivals.join(deps, message);
    return await takeAlone(deps, message);
  } catch (error) {
    return refusal(unstoredEnvelope(envelopeOf(error)), { deliveryId: request.deliveryId ?? "" });
  }
}

function check(deps: RunTurnDeps, request: TurnRequest): Checked {
  parseOwner(request.owner);
  parseSessionKey(request.sessionKey);
  // The graph knows how much a message may carry.
  const limits = { messageCharacters: deps.messageCharacters, attachmentBytes: Number.MAX_SAFE_INTEGER };
  const { text, attachments } = parseInbound(request.content, limits);
  const deliveryId = request.deliveryId === undefined ? deps.ids.uuid() : parseDeliveryId(request.deliveryId);
  const content = attachments.length === 0 ? text : request.content;
  const message = { ...request, ...listener(request), deliveryId, text, content };
  const parsed = parseCommand(text, deps.botNames);
  if (parsed.kind === "text") return { ...message, kind: attachments.length === 0 ? "text" : "other" };
  const command = parsed.kind === "command" ? findCommand(parsed.name) : undefined;
  if (parsed.kind === "elsewhere" || command === undefined) return { ...message, kind: "other" };
  return { ...message, kind: "command", asked: { command, args: parsed.args } };
}

/** Whoever watches a turn cannot fail it: what a listener throws goes nowhere. */
function listener({ onEvent }: TurnRequest): Pick<TurnRequest, "onEvent"> {
  if (onEvent === undefined) return {};
  const tell: (event: TurnEvent) => unknown = onEvent;
  return {
    onEvent: (event) => {
      try {
        const told = tell(event);
        // One that is asynchronous all the same would end the process.
        if (told instanceof Promise) told.catch(() => undefined);
      } catch {
        // The answer is written and stored whether or not anybody can be shown it; the reply holds it in full.
      }
    },
  };
}

/** What changes nothing, and what stops a turn, does not wait for the one that runs. */
async function answerBeside(
  deps: RunTurnDeps,
  message: Checked,
  { command, args }: NonNullable<Checked["asked"]>,
): Promise<TurnReply> {
  const { deliveryId, owner, sessionKey } = message;
  if (command !== stopCommand)
    return deps.readCommand({ owner, sessionKey, deliveryId, name: command.name, args });
  const ref = { owner, sessionKey };
  const outcome: StopOutcome = deps.arrivals.takeBack(ref)
    ? { kind: "asked", where: "here", ref, token: 0 }
    : await requestStop(deps, ref, deliveryId);
  const sessionId = (await deps.repository.readChain(ref))?.latest ?? "";
  return { ...refusal(stopEnvelope(outcome), { sessionId, deliveryId }), outcome: "command" };
}

/** A message that is a turn by itself. What came before it stays before it; what comes later is not joined to that. */
async function takeAlone(deps: RunTurnDeps, message: Checked): Promise<TurnReply> {
  const { owner, sessionKey, deliveryId: id, content, onEvent } = message;
  const ref = { owner, sessionKey };
  const { turn, onInLine } = deps.arrivals.passBy(ref);
  const stop = new AbortController();
  // Its wait ends also when a turn that it stopped takes too long to end.
  const wait = new AbortController();
  const heed = (): void => [stop, wait].forEach((one) => one.abort(message.stop?.reason));
  if (message.stop?.aborted === true) heed();
  message.stop?.addEventListener("abort", heed);
  let endWatch: (() => void) | undefined;
  try {
    const asked = await stopRunning(deps, message);
    const waitMs = deps.arrivals.policyOf(sessionKey).stopWaitMs;
    endWatch = asked && boundWait(deps, { asked, waitMs }, (why) => wait.abort(why));
    await turn;
    const waiting = { signal: wait.signal, onWait: () => onEvent?.({ type: "waiting" }), onInLine };
    return await withKey(deps, { ref, deliveryId: id, waiting }, async (lease) => {
      endWatch?.();
      const sent = { id, content };
      const before = await deps.beforeRun?.({ ref, message: sent, lease });
      if (before?.kind === "reply") return before.reply;
      return takeTurn(deps, { ref, message: sent, lease, stop, onEvent, ...before });
    });
  } finally {
    onInLine();
    endWatch?.();
    message.stop?.removeEventListener("abort", heed);
  }
}

/**
 * A command that ends the session does not wait for the turn that it is meant to end. One that was handled before, or
 * that will be refused, ends nothing.
 */
async function stopRunning(
  deps: RunTurnDeps,
  { asked, ...message }: Checked,
): Promise<StopAsked | undefined> {
  if (asked?.command.kind !== "rotating") return undefined;
  const { command, args } = asked;
  if (deps.lifecycleMode === "legacy" && command.clearsInPlace !== true) return undefined;
  const ref = { owner: message.owner, sessionKey: message.sessionKey };
  if (!(await isRunning(deps, ref))) return undefined;
  const chain = await deps.repository.readChain(ref);
  if (chain === undefined || openedBy(chain, message.deliveryId) !== undefined) return undefined;
  const session = await deps.runner.readSession(chain.latest);
  const plan = session && command.plan(args, { chain, entry: latestEntry(chain), session });
  if (plan !== undefined && isRefusal(plan)) return undefined;
  const outcome = await requestStop(deps, ref, message.deliveryId);
  return outcome.kind === "asked" ? outcome : undefined;
}
