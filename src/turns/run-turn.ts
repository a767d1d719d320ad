/** The one way in for a message: checks it, waits for its key, runs the graph, follows the hand-off. */
import { parseCommand } from "#src/commands/parse-command.ts";
import { isRefusal, readsOnly, type Command } from "#src/commands/command.ts";
import { findCommand, stopCommand } from "#src/commands/registry.ts";
import { envelopeOf } from "#src/kernel/envelope.ts";
import { latestEntry, openedBy } from "#src/sessions/chain.ts";
import { parseDeliveryId, parseOwner, parseSessionKey } from "#src/sessions/session-key.ts";
import type { Arrival, Arrivals } from "./arrivals.ts";
import { parseInbound } from "./inbound.ts";
import type { TurnEvent } from "./runner.ts";
import { stopEnvelope } from "./stop.ts";
import type { TurnDeps, TurnRequest } from "./turn-deps.ts";
import { refusal, unstoredEnvelope, type TurnReply } from "./turn-reply.ts";

export type { TurnRequest } from "./turn-deps.ts";

/** What `runTurn` works with. */
export interface RunTurnDeps extends TurnDeps {
  readonly arrivals: Arrivals;
}

/** A command that was asked for. */
interface Asked {
  readonly command: Command;
  readonly args: string;
}

/**
 * Takes one message to its reply. Never throws for what a person or program can do wrong: such a reply has outcome
 * `refused` or `failed` and the code in its envelope. What a listener throws changes nothing.
 */
export async function runTurn(deps: RunTurnDeps, request: TurnRequest): Promise<TurnReply> {
  try {
    const { asked, message } = check(deps, request);
    if (asked === undefined) return await deps.arrivals.take(deps, message);
    if (readsOnly(asked.command, asked.args)) return await answerBeside(deps, message, asked);
    const endsRunning = (): Promise<boolean> => endsWhatRuns(deps, message, asked);
    return await deps.arrivals.take(deps, { ...message, endsRunning });
  } catch (error) {
    return refusal(unstoredEnvelope(envelopeOf(error)), { deliveryId: request.deliveryId ?? "" });
  }
}

function check(deps: RunTurnDeps, request: TurnRequest): { message: Arrival; asked?: Asked } {
  parseOwner(request.owner);
  parseSessionKey(request.sessionKey);
  // The graph knows how much a message may carry.
  const limits = { messageCharacters: deps.messageCharacters, attachmentBytes: Number.MAX_SAFE_INTEGER };
  const { text, attachments } = parseInbound(request.content, limits);
  const deliveryId = request.deliveryId === undefined ? deps.ids.uuid() : parseDeliveryId(request.deliveryId);
  const content = attachments.length === 0 ? text : request.content;
  const parsed = parseCommand(text, deps.botNames);
  const isText = parsed.kind === "text" && attachments.length === 0;
  const message = { ...request, ...listener(request), deliveryId, text, content, isText };
  const command = parsed.kind === "command" ? findCommand(parsed.name) : undefined;
  return parsed.kind !== "command" || command === undefined
    ? { message }
    : { message, asked: { command, args: parsed.args } };
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
  message: Arrival,
  { command, args }: Asked,
): Promise<TurnReply> {
  const { deliveryId, owner, sessionKey } = message;
  if (command !== stopCommand)
    return deps.readCommand({ owner, sessionKey, deliveryId, name: command.name, args });
  const ref = { owner, sessionKey };
  const outcome = await deps.arrivals.stop(deps, ref, deliveryId);
  const sessionId = (await deps.repository.readChain(ref))?.latest ?? "";
  return { ...refusal(stopEnvelope(outcome), { sessionId, deliveryId }), outcome: "command" };
}

/** Whether a command ends the session and the turn in it: one that was handled before, or will be refused, ends nothing. */
async function endsWhatRuns(
  deps: RunTurnDeps,
  { owner, sessionKey, deliveryId }: Arrival,
  { command, args }: Asked,
): Promise<boolean> {
  if (command.kind !== "rotating") return false;
  if (deps.lifecycleMode === "legacy" && command.clearsInPlace !== true) return false;
  const chain = await deps.repository.readChain({ owner, sessionKey });
  if (chain === undefined || openedBy(chain, deliveryId) !== undefined) return false;
  const session = await deps.runner.readSession(chain.latest);
  const plan = session && command.plan(args, { chain, entry: latestEntry(chain), session });
  return plan === undefined || !isRefusal(plan);
}
