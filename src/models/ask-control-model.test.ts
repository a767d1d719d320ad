import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { askControlModel } from "./ask-control-model.ts";
import { ScriptedChatModel } from "./testing/scripted-chat-model.ts";
import { createScriptedChatModels } from "./testing/scripted-chat-model.ts";

/** A model that answers when it is let, and a wait that ends when the test says so. */
function asked(signal?: AbortSignal) {
  let onTime = (): void => undefined;
  const model = new ScriptedChatModel(() => new Promise<string>(() => undefined));
  const answer = askControlModel(
    {
      models: createScriptedChatModels({ "scripted:judge": model }),
      model: "scripted:judge",
      deadlineMs: 15_000,
      signal,
      startTimer: (_ms, call) => {
        onTime = call;
        return () => undefined;
      },
    },
    [new HumanMessage("so?")],
  );
  return { answer, endTime: () => onTime() };
}

describe("a question to a control model", () => {
  it("is not waited for beyond its time, also where the model ignores that", async () => {
    const { answer, endTime } = asked();
    endTime();
    expect(await answer).toEqual({
      kind: "none",
      why: "the control model did not answer within 15 s",
      isLate: true,
    });
  });

  it("is not waited for when the person stops the turn", async () => {
    const stop = new AbortController();
    const { answer } = asked(stop.signal);
    stop.abort();
    expect(await answer).toEqual({ kind: "none", why: "the control model was not waited for", isLate: true });
  });
});
