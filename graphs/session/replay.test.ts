import { afterEach, describe, expect, it } from "vitest";
import { verifyOwner } from "#src/sessions/verify.ts";
import {
  createHarness,
  echoModel,
  inputOf,
  KEY,
  latestOf,
  OWNER,
  storingAll,
  type Harness,
  type HarnessOptions,
} from "./testing/harness.ts";
import type { SessionStateValues } from "./state.ts";

let lily: Harness | undefined;
afterEach(async () => lily?.close());

async function open(texts: readonly string[], options: HarnessOptions = {}) {
  const model = echoModel();
  lily = await createHarness({ model, ...options });
  for (const text of texts) await lily.send(text);
  const threadId = latestOf(await lily.chain()).sessionId;
  return { lily, model, threadId };
}

type Found = { readonly config: { configurable?: Record<string, unknown> } };

/** The checkpoint of a thread for which `wanted` holds, newest first. */
async function checkpointOf(
  lily: Harness,
  threadId: string,
  wanted: (values: SessionStateValues, next: readonly string[]) => boolean,
): Promise<Found["config"]> {
  for await (const snapshot of lily.sessions.graph.getStateHistory({
    configurable: { thread_id: threadId },
  })) {
    if (wanted(snapshot.values as SessionStateValues, snapshot.next)) return snapshot.config;
  }
  throw new Error("there is no such checkpoint");
}

async function runFrom(lily: Harness, config: Found["config"], input: object | null) {
  const result: unknown = await lily.sessions.graph.invoke(input, {
    ...config,
    context: { owner: OWNER, sessionKey: KEY, followsHandoff: true, fence: undefined },
  });
  return result as Pick<SessionStateValues, "reply" | "handoff">;
}

const message = (content: string) => ({ messages: [{ role: "user", content, id: `id-${content}` }] });

describe("a run from an old checkpoint", () => {
  it("opens a session that continues what was before it, and never a second turn of that number", async () => {
    const { lily, model, threadId } = await open(["one", "two", "three"]);
    const afterOne = await checkpointOf(
      lily,
      threadId,
      (values, next) => next.length === 0 && values.session?.turns === 1,
    );
    const { handoff } = await runFrom(lily, afterOne, message("other two"));
    const chain = await lily.chain();
    expect(handoff).toMatchObject({ sessionId: chain.latest, message: { content: "other two" } });
    expect(chain.sessions.map(({ sealed }) => sealed?.turns)).toEqual([3, undefined]);

    const reply = await lily.send("other two", { deliveryId: "id-other two" });
    expect(inputOf(model)).toEqual(["human: one", "ai: one", "human: other two"]);
    expect(reply.announcement).toBe(
      "A new conversation goes on from there: you went back to turn 1 of the conversation. " +
        "/resume brings the other one back.",
    );
    expect(await verifyOwner(lily.sessions.repository, OWNER)).toMatchObject({ ok: true, problems: [] });
  });

  it("answers again in a new session when it begins in the middle of a turn that was committed", async () => {
    const { lily, model, threadId } = await open(["one", "two", "three"], storingAll());
    const beforeModel = await checkpointOf(
      lily,
      threadId,
      (values, next) => next[0] === "callModel" && values.turn?.number === 2,
    );
    const { handoff } = await runFrom(lily, beforeModel, null);
    if (handoff === null) throw new Error("the message was not handed on");
    const reply = await lily.send(handoff.message.content, { deliveryId: handoff.message.id });
    expect(reply).toMatchObject({ outcome: "answered", turn: 1, repeated: false });
    expect(inputOf(model)).toEqual(["human: one", "ai: one", "human: two"]);
    const [old] = (await lily.chain()).sessions;
    expect((await lily.turns(old?.sessionId ?? "")).map(({ turn }) => turn)).toEqual([1, 2, 3]);
  });

  it("is an ordinary turn when it begins at the newest one", async () => {
    const { lily, threadId } = await open(["one", "two"]);
    const newest = await checkpointOf(lily, threadId, (_values, next) => next.length === 0);
    const { reply } = await runFrom(lily, newest, message("three"));
    expect(reply).toMatchObject({ outcome: "answered", sessionId: threadId, turn: 3 });
  });

  it("goes on in the latest session when its own is sealed", async () => {
    const { lily, threadId } = await open(["one", "two", "/new three"], storingAll());
    const first = (await lily.chain()).sessions[0]?.sessionId ?? "";
    const afterOne = await checkpointOf(
      lily,
      first,
      (values, next) => next.length === 0 && values.session?.turns === 1,
    );
    const { handoff } = await runFrom(lily, afterOne, message("four"));
    expect(handoff?.sessionId).toBe(threadId);
    expect((await lily.chain()).sessions).toHaveLength(2);
  });

  it("is answered in the latest session when it begins in the middle of a turn of a sealed one", async () => {
    const { lily, threadId } = await open(["one", "two", "/new three"], storingAll());
    const first = (await lily.chain()).sessions[0]?.sessionId ?? "";
    const beforeModel = await checkpointOf(
      lily,
      first,
      (values, next) => next[0] === "callModel" && values.turn?.number === 2,
    );
    const { handoff } = await runFrom(lily, beforeModel, null);
    expect(handoff).toMatchObject({ sessionId: threadId, message: { content: "two" } });
    const reply = await lily.send(handoff?.message.content, { deliveryId: handoff?.message.id ?? "" });
    expect(reply).toMatchObject({ outcome: "answered", sessionId: threadId, turn: 2 });
    expect((await lily.chain()).sessions).toHaveLength(2);
  });
});
