import { randomUUID } from "node:crypto";
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
  const threadId = texts.length === 0 ? randomUUID() : latestOf(await lily.chain()).sessionId;
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

/** A turn of which every step is stored, as on a LangGraph server. */
async function step(lily: Harness, threadId: string, text: string) {
  const result: unknown = await lily.sessions.graph.invoke(message(text), {
    configurable: { thread_id: threadId },
    context: { owner: OWNER, sessionKey: KEY, followsHandoff: true, fence: undefined },
    durability: "sync",
  });
  return result as Pick<SessionStateValues, "reply" | "handoff">;
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

  it("is refused in words when it begins in the middle of a turn that was committed", async () => {
    const { lily, model, threadId } = await open([], storingAll());
    for (const text of ["one", "two", "three"]) await step(lily, threadId, text);
    const beforeModel = await checkpointOf(
      lily,
      threadId,
      (values, next) => next[0] === "callModel" && values.turn?.number === 2,
    );
    const calls = model.calls.length;
    const { reply } = await runFrom(lily, beforeModel, null);
    expect(reply).toMatchObject({ outcome: "failed", envelope: { code: "turn_conflict" } });
    expect(model.calls).toHaveLength(calls);
    expect((await lily.turns(threadId)).map(({ turn }) => turn)).toEqual([1, 2, 3]);
    expect((await step(lily, threadId, "four")).reply).toMatchObject({ turn: 4 });
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
});
