/** What a chat page shows that knows LangGraph's threads and messages alone, as agent-chat-ui does. */
import { randomUUID } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { ThreadStart } from "#src/turns/thread-registrar.ts";
import { compileSessionGraph } from "./graph.ts";
import type { HarnessOptions } from "./testing/harness.ts";
import { storingAll } from "./testing/harness.ts";
import { harnessStarter } from "./testing/open-harnesses.ts";

const start = harnessStarter();

/** A page over the graph as a server runs it: nothing is fenced, every step is stored, hand-offs are enqueued. */
async function openPage(options: HarnessOptions = {}) {
  const enqueued: ThreadStart[] = [];
  const lily = await start({
    ...storingAll(),
    ...options,
    adjust: ({ fencedStore: _none, ...deps }) => ({
      ...deps,
      threads: { start: async (thread) => void enqueued.push(thread), label: async () => undefined },
    }),
  });
  const graph = compileSessionGraph(lily.deps, lily.storage);
  const run = async (
    threadId: string,
    message: { type: string; id: string; content: unknown },
    context: unknown,
  ) =>
    graph.invoke(
      { messages: [message] as never },
      { configurable: { thread_id: threadId }, context: context as never },
    );
  return {
    lily,
    /** One run, and those that it enqueues. */
    async send(
      threadId: string,
      content: unknown,
      { id = randomUUID(), context = {} }: { id?: string; context?: unknown } = {},
    ) {
      const output = await run(threadId, { type: "human", id, content }, context);
      for (let next = enqueued.shift(); next !== undefined; next = enqueued.shift())
        if (next.message !== undefined)
          await run(next.sessionId, { type: "human", ...next.message }, { sessionKey: next.sessionKey });
      return output;
    },
  };
}

describe("the context of a run", () => {
  it.each([
    ["a session key that is a number", { sessionKey: 5 }, 'at "sessionKey"'],
    ["an owner that is a list", { owner: [] }, 'at "owner"'],
    ["a flag that is a word", { followsHandoff: "yes" }, 'at "followsHandoff"'],
    ["text instead of fields", "telegram:dm:42", "expected object"],
  ])(
    "with %s is refused with an envelope that says where, and nothing is stored (S-9)",
    async (_what, context, where) => {
      const page = await openPage();
      const { reply } = await page.send(randomUUID(), "hello", { context });
      expect(reply).toMatchObject({ outcome: "refused", envelope: { ok: false, code: "request_invalid" } });
      expect(reply?.envelope.message).toContain(where);
      expect(await page.lily.storage.store.listNamespaces({ limit: 10 })).toEqual([]);
    },
  );
});
