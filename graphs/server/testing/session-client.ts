/** A server with the session graph as tests talk to it: threads, runs and what is stored of them. */
import { Client } from "@langchain/langgraph-sdk";
import { z } from "zod";
import { fromTurnItem, historyNamespace } from "#src/storage/session-items.ts";
import { turnRecordSchema, type TurnRecord } from "#src/sessions/turn-record.ts";
import { turnReplySchema } from "#src/turns/turn-reply.ts";
import { handoffSchema } from "../../session/state.ts";

/** Id of the session graph. */
export const GRAPH = "session";

const outputSchema = z.object({
  reply: turnReplySchema.nullable(),
  handoff: handoffSchema.nullable(),
  messages: z.array(z.object({ type: z.string(), content: z.string(), id: z.string().nullish() })),
});

/** What a run gives back. */
export type Output = z.infer<typeof outputSchema>;

/** A client that knows the session graph. */
export interface SessionClient {
  readonly client: Client;
  newThread(): Promise<string>;
  /** One run with one user message, to its end. */
  send(threadId: string, content: string, options?: SendOptions): Promise<Output>;
  /** The turns of a session of the local owner, in order. */
  transcript(sessionKey: string, sessionId: string): Promise<TurnRecord[]>;
}

/** Options of {@link SessionClient.send}. */
export interface SendOptions {
  readonly id?: string;
  readonly sessionKey?: string;
  readonly multitaskStrategy?: "reject" | "enqueue" | "interrupt" | "rollback";
}

/** Connects to a server. */
export function connect(url: string): SessionClient {
  const client = new Client({ apiUrl: url, apiKey: null, callerOptions: { maxRetries: 0 } });
  return {
    client,
    newThread: async () => (await client.threads.create()).thread_id,
    send: async (threadId, content, options = {}) =>
      parseOutput(await client.runs.wait(threadId, GRAPH, payloadOf(content, options))),
    async transcript(sessionKey, sessionId) {
      const namespace = historyNamespace({ owner: "local", sessionKey, sessionId });
      const { items } = await client.store.searchItems(namespace, { limit: 100 });
      return items
        .map((item) => turnRecordSchema.parse(fromTurnItem(item.value, item)))
        .toSorted((one, other) => one.turn - other.turn);
    },
  };
}

/** What a client sends with one user message. */
export function payloadOf(content: string, { id, sessionKey, multitaskStrategy }: SendOptions = {}) {
  return {
    input: { messages: [{ type: "human", content, ...(id === undefined ? {} : { id }) }] },
    context: sessionKey === undefined ? {} : { sessionKey },
    ...(multitaskStrategy === undefined ? {} : { multitaskStrategy }),
  };
}

/** @throws when `values` are not those of the session graph */
export function parseOutput(values: unknown): Output {
  return outputSchema.parse(values);
}

/** What was said, as `role: text`. */
export function linesOf(turns: readonly TurnRecord[]): string[] {
  return turns.flatMap(({ messages }) => messages.map(({ role, content }) => `${role}: ${content}`));
}
