import { describe, expect, it } from "vitest";
import { echoModel } from "#graphs/session/testing/harness.ts";
import { sessionDocumentSchema } from "#src/explain/session-document.ts";
import { traceSchema } from "#src/explain/trace.ts";
import { ScriptedChatModel } from "#src/models/testing/scripted-chat-model.ts";
import type { TurnReply } from "#src/turns/turn-reply.ts";
import { httpHarnessStarter, type HttpHarness } from "./testing/http-harness.ts";

const start = httpHarnessStarter();

const say = async (http: HttpHarness, content: string): Promise<TurnReply> =>
  (await (await http.post("/keys/k/messages", { content })).json()) as TurnReply;

describe("the trace of a turn", () => {
  it("is given by its number, as the last one, and of a turn that failed, also in a session that has ended", async () => {
    const model = new ScriptedChatModel((_messages, index) =>
      index === 1 ? { error: new Error("boom") } : "fine",
    );
    const http = await start({ lily: { model } });
    const { sessionId } = await say(http, "one");
    await say(http, "two");
    await say(http, "/new");
    const path = `/keys/k/sessions/${sessionId}/turns`;
    const traceAt = async (turn: string) =>
      traceSchema.parse(await (await http.request(`${path}/${turn}/trace`)).json());
    expect(await traceAt("1")).toMatchObject({ turn: 1, status: "completed", sessionId });
    expect(await traceAt("failed-1")).toMatchObject({ turn: null, status: "failed", code: "model_failed" });
    expect(await http.problem(`${path}/7/trace`)).toMatchObject({ code: "turn_not_found" });
  });

  it("of a session that is not one's own is told from one that does not exist by nothing", async () => {
    const http = await start({ lily: { model: echoModel() } });
    await say(http, "one");
    const id = "00000000-0000-4000-8000-000000000000";
    expect(await http.problem(`/keys/k/sessions/${id}/turns/1/trace`)).toMatchObject({
      code: "session_not_found",
    });
  });
});

describe("the state of a session, under the names of the MRP document", () => {
  it("is created, active, and expired once it has ended or would end with the next message", async () => {
    const http = await start({ lily: { model: echoModel() } });
    const stateOf = async (sessionId: string) =>
      sessionDocumentSchema.parse(await (await http.request(`/keys/k/sessions/${sessionId}/state`)).json());
    const { sessionId } = await say(http, "my flight is BA117");
    expect(await stateOf(sessionId)).toMatchObject({
      sessionId,
      state: "active",
      preferredModel: "scripted:test",
      preferredPlannerPlugin: "planner-default",
      preferredKBPlugin: "kb-fast",
      mountedKbId: "default",
      messageLog: [
        { role: "user", content: "my flight is BA117" },
        { role: "assistant", content: "my flight is BA117" },
      ],
      explainabilityLog: [{ turn: 1, status: "completed", responsePreview: "my flight is BA117" }],
    });
    await say(http, "/plugin gs gs-symbolic");
    await say(http, "what is my flight?");
    const log = (await stateOf(sessionId)).explainabilityLog;
    expect(log.at(-1)).toMatchObject({ turn: 3, error: null, plugins: { gs: "gs-symbolic" } });
    const { sessionId: next } = await say(http, "/new");
    expect((await stateOf(sessionId)).state).toBe("expired");
    expect((await stateOf(next)).state).toBe("created");
    await say(http, "hello");
    http.lily.clock.advance(13 * 3_600_000);
    expect((await stateOf(next)).state).toBe("expired");
  });
});
