import { HumanMessage } from "@langchain/core/messages";
import { afterEach, describe, expect, it, vi } from "vitest";
import { askControlModel } from "./ask-control-model.ts";
import { createScriptedChatModels, ScriptedChatModel } from "./testing/scripted-chat-model.ts";

afterEach(() => void vi.useRealTimers());

/** Asks a model that never answers, whatever its signal says. */
function asked(signal?: AbortSignal) {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const model = new ScriptedChatModel(() => new Promise<string>(() => undefined));
  const models = createScriptedChatModels({ "scripted:judge": model });
  return askControlModel({ models, model: "scripted:judge", deadlineMs: 15_000, signal }, [
    new HumanMessage("so?"),
  ]);
}

describe("a question to a control model", () => {
  it("is not waited for beyond its time, also where the model ignores that", async () => {
    const answer = asked();
    await vi.advanceTimersByTimeAsync(15_000);
    expect(await answer).toEqual({
      kind: "none",
      why: "the control model did not answer within 15 s",
      isLate: true,
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is not waited for when the person stops the turn", async () => {
    const stop = new AbortController();
    const answer = asked(stop.signal);
    stop.abort();
    expect(await answer).toEqual({ kind: "none", why: "the control model was not waited for", isLate: true });
    expect(vi.getTimerCount()).toBe(0);
  });
});
