/** The turn in flight as it begins. */
import { HumanMessage, RemoveMessage, type BaseMessage } from "@langchain/core/messages";
import type { SessionDeps } from "#src/app/session-deps.ts";
import { toInstant } from "#src/kernel/clock.ts";
import { contentOf } from "#src/turns/langchain-messages.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { textToAnswer, type Intent } from "./handled.ts";
import type { Delivery, SortedMessages } from "./inbound.ts";
import { laterCopy, removalOf } from "./messages.ts";
import type { RunContext } from "./run-context.ts";
import type { SessionUpdate, TurnInFlight } from "./state.ts";

/** What a turn begins with. */
export interface Beginning {
  readonly sorted: SortedMessages;
  readonly session: SessionFields;
  readonly delivery: Delivery;
  /** Of what it says itself. */
  readonly textHash: string;
  readonly collected: RunContext["collected"];
  readonly intent: Intent;
  readonly announcement: string | null;
  /** Says behind the message why the session began. */
  readonly opened: BaseMessage | undefined;
  /** A turn that waits to be answered with this one: what it says comes first. */
  readonly waiting?: TurnInFlight | undefined;
  /** Changes to `messages`, and to the other channels, that settling made. */
  readonly messages: readonly BaseMessage[];
  readonly fields: SessionUpdate;
}

/** A turn that begins, with its user's message. */
export interface BegunTurn {
  readonly update: SessionUpdate;
  readonly turn: TurnInFlight;
  readonly message: BaseMessage;
}

/** Begins a turn. */
export function beginTurn(deps: SessionDeps, beginning: Beginning): BegunTurn {
  const { session, sorted, messages: added } = beginning;
  const delivery = withWaiting(beginning);
  // Turns that the checkpoint had missed come before this one, so its message moves behind them.
  const isMoved = added.some((message) => !RemoveMessage.isInstance(message));
  const message = isMoved ? laterCopy(delivery.message) : delivery.message;
  const isNew = !sorted.inbound.includes(message);
  const replaced = sorted.inbound.filter((inbound) => inbound !== message).map(removalOf);
  const turn = turnOf(deps, { ...beginning, delivery }, message.id ?? "");
  const { opened } = beginning;
  const fresh = [...(isNew ? [message] : []), ...(opened === undefined ? [] : [opened])];
  const messages = [...sorted.notices.map(removalOf), ...replaced, ...added, ...fresh];
  return {
    turn,
    message,
    update: { ...beginning.fields, session, turn, reply: null, handoff: null, messages },
  };
}

/** The delivery as it is answered; its hash stays that of its own text. */
function withWaiting({ delivery, waiting }: Beginning): Delivery {
  if (waiting === undefined) return delivery;
  const text = `${waiting.text}\n\n${delivery.text}`.trim();
  const attachments = [...(waiting.attachments ?? []), ...delivery.attachments];
  const { id, additional_kwargs } = delivery.message;
  const content = contentOf(text, attachments);
  const message = new HumanMessage({ content, additional_kwargs, ...(id === undefined ? {} : { id }) });
  return { ...delivery, text, attachments, message };
}

function turnOf(deps: SessionDeps, beginning: Beginning, firstMessageId: string): TurnInFlight {
  const { delivery, intent, session, collected, waiting } = beginning;
  const text = waiting === undefined ? textToAnswer(delivery, intent) : delivery.text;
  const { deliveryId, textHash } = waiting ?? {};
  const others = [
    ...(collected?.others ?? []),
    ...(deliveryId === undefined || textHash === undefined ? [] : [{ deliveryId, textHash }]),
    ...(waiting?.collected ?? []),
  ];
  const cleared = clearedInPlace(deps, intent);
  return {
    deliveryId: delivery.deliveryId,
    requestId: deps.ids.uuid(),
    textHash: beginning.textHash,
    ...(others.length === 0 ? {} : { collected: others }),
    text: cleared?.text || text,
    ...(delivery.attachments.length === 0 ? {} : { attachments: [...delivery.attachments] }),
    startedAt: toInstant(deps.clock.now()),
    number: session.turns + 1,
    firstMessageId,
    command: cleared === undefined || cleared.text === "" ? commandOf(deps, intent) : null,
    ...(cleared === undefined ? {} : { clears: true }),
    outcome: null,
    announcement: beginning.announcement,
    notice: null,
    recalled: [],
    solver: null,
    receipt: null,
    status: "completed",
    stagedUnits: [],
    modelCalls: 0,
  };
}

/** In legacy mode a command that would end the session clears its context instead; what is behind it is answered. */
function clearedInPlace(deps: SessionDeps, intent: Intent): { readonly text: string } | undefined {
  if (deps.lifecycleMode !== "legacy") return undefined;
  if (intent.kind !== "command" || intent.command.kind !== "rotating") return undefined;
  return { text: intent.command.textBehind(intent.args) };
}

function commandOf(deps: SessionDeps, intent: Intent): TurnInFlight["command"] {
  if (intent.kind !== "command") return null;
  const rotates = intent.command.kind === "rotating" && deps.lifecycleMode === "segmented";
  return { name: intent.command.name, args: intent.args, rotates };
}
