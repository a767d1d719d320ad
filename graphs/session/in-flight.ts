/**
 * The turn in flight, in the Store: what must not be done twice stands here, on every host, and another program can tell
 * of a message that nobody answers any more. A checkpoint may be thrown away; this is what a crash is settled by.
 */
import { mapChatMessagesToStoredMessages, mapStoredMessagesToChatMessages } from "@langchain/core/messages";
import type { BaseMessage, StoredMessage } from "@langchain/core/messages";
import { inWords } from "./window.ts";
import type { BaseStore } from "@langchain/langgraph-checkpoint";
import { z } from "zod";
import { LilyError } from "#src/kernel/errors.ts";
import { toStorableValue } from "#src/kernel/json.ts";
import type { KeyRef } from "#src/sessions/repository.ts";
import type { SessionFields } from "#src/sessions/session-fields.ts";
import { approvalSchema, decisionSchema } from "#src/tools/approval.ts";
import { IN_FLIGHT_KEY, inFlightNamespace } from "#src/storage/session-namespaces.ts";
import type { RunContext } from "./run-context.ts";
import { turnInFlightSchema, type TurnInFlight } from "./state.ts";

/** A call of a tool that is not finished: it was begun, or a person was asked, or has answered. */
const openCallSchema = z.strictObject({
  id: z.string(),
  /** The message that made the call; absent in items of earlier versions. */
  messageId: z.string().optional(),
  state: z.enum(["begun", "asked", "answered"]),
  /** The question, where a person is asked whether it may run; absent where its tool asks. */
  approval: approvalSchema.optional(),
  /** What the person decided: nobody is asked again. */
  decision: decisionSchema.optional(),
});

/** A call of a tool that is not finished. */
export type OpenMark = z.infer<typeof openCallSchema>;

const storedMessageSchema = z.looseObject({
  type: z.string(),
  data: z.looseObject({ content: z.unknown() }),
});

const inFlightSchema = z.strictObject({
  sessionId: z.string(),
  turn: turnInFlightSchema,
  /** The user's message first. */
  messages: z.array(storedMessageSchema),
  call: openCallSchema.nullable(),
});

/** A turn that has begun and is not committed. */
export interface InFlight {
  readonly sessionId: string;
  readonly turn: TurnInFlight;
  /** The user's message first. */
  readonly messages: readonly BaseMessage[];
  /** The call that was being run. */
  readonly call: OpenMark | null;
}

/** The turn in flight of a key; `undefined` when there is none, or none that this version can read. */
export async function readInFlight(store: BaseStore, ref: KeyRef): Promise<InFlight | undefined> {
  const item = await store.get(inFlightNamespace(ref), IN_FLIGHT_KEY);
  const parsed = inFlightSchema.safeParse(item?.value);
  if (!parsed.success) return undefined;
  // LangChain reads back what it has written; each has a type and data.
  const messages = mapStoredMessagesToChatMessages(parsed.data.messages as unknown as StoredMessage[]);
  return { ...parsed.data, messages };
}

/** Puts the turn in flight of its key, in place of the one that was there. */
export async function putInFlight(store: BaseStore, ref: KeyRef, inFlight: InFlight): Promise<void> {
  const messages = toStorableValue(mapChatMessagesToStoredMessages(inFlight.messages.map(inWords)));
  await store.put(inFlightNamespace(ref), IN_FLIGHT_KEY, { ...inFlight, messages }, false);
}

/** Forgets the turn in flight of a key. */
export async function dropInFlight(store: BaseStore, ref: KeyRef): Promise<void> {
  await store.delete(inFlightNamespace(ref), IN_FLIGHT_KEY);
}

/**
 * The turn in flight that a step goes on with. A resume, or a run from a checkpoint in the middle of a turn, did not pass
 * `admit`: what it goes on with may have been answered or closed long ago.
 *
 * @throws {LilyError} `turn_conflict` when the turn is not in flight any more
 */
export async function requireInFlight(
  { store }: Pick<RunContext, "store">,
  session: SessionFields,
  turn: TurnInFlight,
): Promise<InFlight> {
  const inFlight = await readInFlight(store, session);
  if (inFlight?.turn.requestId === turn.requestId) return inFlight;
  throw new LilyError("turn_conflict", `turn ${turn.number} of session ${session.sessionId} is over`, {
    next: "Nothing was run. Send a new message.",
  });
}
