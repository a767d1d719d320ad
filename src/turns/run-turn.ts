/** The one way in for a message: checks it, and takes it to its reply by the way that it has to go. */
import { parseCommand } from "#src/commands/parse-command.ts";
import { isRefusal, readsOnly, type Command } from "#src/commands/command.ts";
import { stopCommand } from "#src/commands/catalog/stop.ts";
import { findCommand } from "#src/commands/registry.ts";
import { envelopeOf } from "#src/kernel/envelope.ts";
import { latestEntry, openedBy } from "#src/sessions/chain.ts";
import { parseDeliveryId, parseOwner, parseSessionKey } from "#src/sessions/session-key.ts";
import { gathers } from "./arrival-policy.ts";
import { gather, takePlace, type TakenPlace } from "./gather.ts";
import { parseInbound } from "./inbound.ts";
import { arrivalPolicyOf, isRunning, requestStop, type StopAsked } from "./request-stop.ts";
import { withSafeListener } from "./safe-listener.ts";
import { stopReply } from "./stop-turn.ts";
import type { TurnDeps } from "./turn-deps.ts";
import { refusal, type TurnReply } from "./turn-reply.ts";
import type { TurnRequest } from "./turn-request.ts";
import { underLock } from "./under-lock.ts";

export type { ReadCommand, TurnDeps } from "./turn-deps.ts";
export type { TurnRequest } from "./turn-request.ts";

/** The graph knows how much a message may carry. */
const ANY_SIZE = Number.MAX_SAFE_INTEGER;

/** A message that was checked. */
interface Checked {
  readonly deliveryId: string;
  readonly text: string;
  /** The text; or what was sent, where it carries more. */
  readonly content: unknown;
  /** What it is: text alone, a command that exists, or a command for somebody else or nobody, or text with more. */
  readonly kind: "text" | "command" | "other";
  readonly asked?: Asked;
}

interface Asked {
  readonly command: Command;
  readonly args: string;
}

/**
 * Takes one message to its reply. Never throws for what a person or program can do wrong: such a reply has outcome
 * `refused` or `failed` and the code in its envelope. What a listener throws changes nothing.
 */
export async function runTurn(deps: TurnDeps, asked: TurnRequest): Promise<TurnReply> {
  const request = withSafeListener(asked);
  let place: TakenPlace | undefined;
  try {
    const checked = check(deps, request);
    const beside = answerBeside(deps, request, checked) ?? gatherText(deps, request, checked);
    if (beside !== undefined) return await beside;
    // Before anything is waited for: what arrives from now on comes later.
    const { ready, leave } = (place = takePlace(deps, request));
    const stopped = await stopRunning(deps, request, checked);
    await ready();
    const message = { id: checked.deliveryId, content: checked.content };
    return await underLock(deps, request, { message, stopped, onInLine: leave });
  } catch (error) {
    return refusal(envelopeOf(error), { deliveryId: request.deliveryId ?? "" });
  } finally {
    place?.leave();
  }
}

function check(deps: TurnDeps, request: TurnRequest): Checked {
  parseOwner(request.owner);
  parseSessionKey(request.sessionKey);
  const { text, attachments } = parseInbound(request.content, { ...deps, attachmentBytes: ANY_SIZE });
  const deliveryId = request.deliveryId === undefined ? deps.ids.uuid() : parseDeliveryId(request.deliveryId);
  const parsed = parseCommand(text, deps.botNames);
  const message = { deliveryId, text, content: attachments.length === 0 ? text : request.content };
  if (parsed.kind === "text") return { ...message, kind: attachments.length === 0 ? "text" : "other" };
  const command = parsed.kind === "command" ? findCommand(parsed.name) : undefined;
  if (parsed.kind === "elsewhere" || command === undefined) return { ...message, kind: "other" };
  return { ...message, kind: "command", asked: { command, args: parsed.args } };
}

/** What changes nothing, and what stops a turn, does not wait for the one that runs. */
function answerBeside(
  deps: TurnDeps,
  request: TurnRequest,
  { asked, deliveryId }: Checked,
): Promise<TurnReply> | undefined {
  if (asked === undefined || !readsOnly(asked.command, asked.args)) return undefined;
  if (asked.command === stopCommand) return stopReply(deps, request, deliveryId);
  return deps.readCommand({ ...request, deliveryId, name: asked.command.name, args: asked.args });
}

/** Texts may become one turn; a command keeps its place. */
function gatherText(
  deps: TurnDeps,
  request: TurnRequest,
  { kind, deliveryId, text }: Checked,
): Promise<TurnReply> | undefined {
  const policy = arrivalPolicyOf(deps, request);
  if (kind !== "text" || deps.arrivals === undefined || !gathers(policy)) return undefined;
  return gather(deps, request, { deliveryId, text, policy, bursts: deps.arrivals.bursts });
}

/**
 * A command that ends the session does not wait for the turn that it is meant to end. One that was handled before, or
 * that will be refused, ends nothing.
 */
async function stopRunning(
  deps: TurnDeps,
  request: TurnRequest,
  { asked, deliveryId }: Checked,
): Promise<StopAsked | undefined> {
  if (asked?.command.kind !== "rotating") return undefined;
  const { command, args } = asked;
  if (deps.lifecycleMode === "legacy" && command.clearsInPlace !== true) return undefined;
  if (!(await isRunning(deps, request))) return undefined;
  const chain = await deps.repository.readChain(request);
  if (chain === undefined || openedBy(chain, deliveryId) !== undefined) return undefined;
  const session = (await deps.runner.readState(chain.latest))?.session;
  const plan = session && command.plan(args, { chain, entry: latestEntry(chain), session });
  if (plan !== undefined && isRefusal(plan)) return undefined;
  const outcome = await requestStop(deps, request, deliveryId);
  return outcome.kind === "asked" ? outcome : undefined;
}
