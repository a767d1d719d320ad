/** Runs the session graph of a LangGraph server for `runTurn`, through an SDK client. */
import type { Client } from "@langchain/langgraph-sdk";
import { z } from "zod";
import { LilyError } from "#src/kernel/errors.ts";
import { sessionFieldsSchema } from "#src/sessions/session-fields.ts";
import { verdictSchema } from "#src/sessions/verdict.ts";
import type { WaitingReceipts } from "#src/erasure/waiting-receipts.ts";
import type { GraphRun, GraphRunOutcome, SessionRunner } from "#src/turns/runner.ts";
import { removeOrphan, type OrphanDeps } from "./orphan-runs.ts";
import { createRunReader, type RunEvent } from "./run-events.ts";

/** Name of the session graph in `langgraph.json`. */
export const SESSION_GRAPH_ID = "session";

/** The calls of the client that are used here. */
export interface RunnerClient {
  readonly threads: Pick<Client["threads"], "create" | "getState" | "getHistory">;
  readonly runs: Pick<Client["runs"], "stream" | "cancel" | "list" | "delete">;
}

/** Options of {@link createServerRunner}. */
export interface ServerRunnerOptions {
  /** Where the server runs in this process: clears what its restart left behind. */
  readonly orphans?: OrphanDeps;
  /** Where a receipt waits for the run that tells of it; only where the graph runs in this process. */
  readonly receipts?: WaitingReceipts;
  /**
   * The stop of the turn on a session, where the graph cannot see it because it runs in another process. The run is
   * cancelled then, and its unfinished answer is lost.
   */
  readonly stopOf?: (sessionId: string) => AbortSignal | undefined;
}

const stateSchema = z.object({
  session: sessionFieldsSchema,
  verdict: verdictSchema.nullable().default(null),
});

/** Makes the runner. Runs on one thread are put in order by the server. */
export function createServerRunner(client: RunnerClient, options: ServerRunnerOptions = {}): SessionRunner {
  return {
    run: (request) => run(client, request, options),
    async readState(threadId) {
      const state = await client.threads.getState(threadId).catch(unlessUnknown);
      const parsed = stateSchema.safeParse(state?.values);
      return parsed.success ? parsed.data : undefined;
    },
  };
}

/** A thread that the server does not know has no state. */
export function unlessUnknown(error: unknown): undefined {
  const known = z.object({ status: z.number() }).safeParse(error);
  if (known.success && known.data.status === 404) return undefined;
  throw error;
}

async function run(
  client: RunnerClient,
  request: GraphRun,
  options: ServerRunnerOptions,
): Promise<GraphRunOutcome> {
  const { threadId, owner, sessionKey, message, fence } = request;
  if (fence?.erased !== undefined)
    options.receipts?.keep({ owner, sessionKey, deliveryId: message.id }, fence.erased);
  const thread = await client.threads.create({
    threadId,
    graphId: SESSION_GRAPH_ID,
    ifExists: "do_nothing",
    metadata: { session_key: sessionKey, owner },
  });
  if (thread.status === "busy" && options.orphans !== undefined)
    await removeOrphan(client, threadId, options.orphans);

  const stop = options.stopOf?.(threadId);
  const reader = createRunReader(request.onEvent);
  for await (const event of startRun(client, request, stop)) reader.read(event);
  const outcome = reader.outcome();
  if (outcome !== undefined) return outcome;
  throw stop?.aborted === true ? stopped() : cutOff();
}

function startRun(
  client: RunnerClient,
  { threadId, owner, sessionKey, message, signal }: GraphRun,
  stop: AbortSignal | undefined,
): AsyncIterable<RunEvent> {
  const cancel = (runId: string): void => {
    // A run that is over cannot be cancelled and need not be.
    void client.runs.cancel(threadId, runId).catch(() => undefined);
  };
  return client.runs.stream(threadId, SESSION_GRAPH_ID, {
    // Content is checked in the graph; a caller may have sent anything.
    input: { messages: [{ type: "human", id: message.id, content: message.content }] },
    context: { owner, sessionKey, followsHandoff: true },
    streamMode: ["messages-tuple", "updates", "custom"],
    multitaskStrategy: "enqueue",
    onRunCreated({ run_id: runId }) {
      for (const end of [stop, signal]) {
        if (end?.aborted === true) cancel(runId);
        end?.addEventListener("abort", () => cancel(runId), { once: true });
      }
    },
    ...(signal === undefined ? {} : { signal }),
  });
}

function stopped(): LilyError {
  return new LilyError("turn_stopped", "the turn was stopped before it was answered", {
    next: "The message was not stored; send it again when you want.",
  });
}

function cutOff(): LilyError {
  return new LilyError("turn_conflict", "the turn was ended from elsewhere before it was answered", {
    next: "Send the message again.",
  });
}
